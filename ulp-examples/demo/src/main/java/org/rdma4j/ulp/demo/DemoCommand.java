package org.rdma4j.ulp.demo;

import java.io.PrintStream;
import org.apache.felix.service.command.CommandSession;
import org.osgi.framework.BundleContext;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.rdma4j.ulp.command.Command;
import org.rdma4j.ulp.command.CommandException;
import org.rdma4j.ulp.command.Getopt;
import org.rdma4j.ulp.command.Numbers;
import org.rdma4j.ulp.command.UsageException;

/** {@code demo}: shows devices that go and come back under traffic, and checks what was promised about it. */
@Component(
    service = DemoCommand.class,
    property = {"osgi.command.scope=rdma", "osgi.command.function=demo"})
public final class DemoCommand implements Command {
  /** The command, and what resource tracking shows of its objects. */
  static final String NAME = "demo";

  private static final int DEFAULT_MILLIS = 1500;
  private static final int MAX_MILLIS = 60_000;
  private static final String USAGE =
      """
      Usage: demo [options]

      Shows two devices with traffic between them, stops their provider under it and starts it again; where there
      is a card, pulls it out of its slot under traffic and puts it back. Checks that nothing is lost, doubled or
      left behind. Exits with 1 where something is.

      Options:
        -t, --time=<ms>        milliseconds of traffic before and after (default 1500)
        -h, --help             print this
      """;
  private static final Getopt OPTIONS =
      new Getopt(NAME, new Getopt.Option('t', "time", true), new Getopt.Option('h', "help", false));

  private final BundleContext bundle;

  /** Made by Declarative Services. */
  @Activate
  public DemoCommand(BundleContext bundle) {
    this.bundle = bundle;
  }

  /** The shell's entry. */
  public void demo(CommandSession session, String[] arguments) {
    Command.execute((words, out, err) -> run(session, words, out, err), arguments);
  }

  @Override
  public int run(String[] arguments, PrintStream out, PrintStream err) throws CommandException, InterruptedException {
    return run(null, arguments, out, err);
  }

  private int run(CommandSession session, String[] arguments, PrintStream out, PrintStream err)
      throws CommandException, InterruptedException {
    int millis = DEFAULT_MILLIS;
    try {
      for (Getopt.Given given : OPTIONS.parse(arguments).options()) {
        if (given.letter() == 'h') {
          out.print(USAGE);
          return 0;
        }
        millis = Numbers.parse(NAME, "-t", given.argument(), 1, MAX_MILLIS);
      }
    } catch (UsageException e) {
      throw new CommandException(e.getMessage() + "\n" + USAGE.stripTrailing(), 1, e);
    }
    Checks checks = new Checks();
    try (Demo demo = new Demo(bundle, millis, checks, new Stage(out), command -> execute(session, command))) {
      demo.run();
    }
    out.println();
    if (checks.broken().isEmpty()) {
      out.println("All as promised: " + checks.made() + " checks.");
      return 0;
    }
    out.println("NOT as promised: " + checks.broken().size() + " of " + checks.made() + " checks failed.");
    checks.broken().forEach(each -> err.println("demo: " + each));
    return 1;
  }

  private static void execute(CommandSession session, String command) throws CommandException, InterruptedException {
    if (session == null) {
      throw new CommandException("demo: there is no shell for " + command);
    }
    try {
      session.execute(command);
    } catch (InterruptedException e) {
      throw e;
    } catch (Exception e) {
      throw new CommandException("demo: " + command, e);
    }
  }
}
