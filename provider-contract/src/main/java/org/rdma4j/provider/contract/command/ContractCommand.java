package org.rdma4j.provider.contract.command;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import org.apache.felix.service.command.CommandProcessor;
import org.osgi.framework.BundleContext;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.Reference;
import org.rdma4j.provider.contract.ContractCase;
import org.rdma4j.provider.contract.Ends;
import org.rdma4j.provider.contract.Outcome;
import org.rdma4j.provider.contract.ProviderContract;
import org.rdma4j.provider.contract.Report;
import org.rdma4j.ulp.command.Command;
import org.rdma4j.ulp.command.CommandException;
import org.rdma4j.ulp.command.Getopt;
import org.rdma4j.ulp.command.Numbers;
import org.rdma4j.ulp.command.UsageException;

/** {@code provider_contract}: what every provider promises, tried on devices of the running container. */
@Component(
    service = ContractCommand.class,
    property = {"osgi.command.scope=rdma", "osgi.command.function=provider_contract"})
public final class ContractCommand {
  private static final String NAME = "provider_contract";
  private static final String USAGE =
      """
      Usage: provider_contract -d DEVICE [-d DEVICE] [options]

      Tries what every provider promises between two devices, or on one: a line for each case with PASS, SKIP and the
      reason, or FAIL and what was found. Exits with 1 where a case fails.

      Options:
        -d, --ib-dev=<dev>        the device that asks, then the one that answers (default: the same)
        -c, --case=<regex>        only cases whose name matches
        -u, --unplug              also stop the bundle of the first device's provider under traffic, and start it again
        -o, --take-out=<command>  instead: the shell command that takes the first device out
        -b, --put-back=<command>  and the one that brings it back
        -s, --seed=<number>       where random choices begin (default 1)
        -j, --json                print the report as one JSON object
        -l, --list                list the cases and their promises, and run nothing
        -h, --help                print this
      """;
  private static final Getopt OPTIONS =
      new Getopt(
          NAME,
          new Getopt.Option('d', "ib-dev", true),
          new Getopt.Option('c', "case", true),
          new Getopt.Option('u', "unplug", false),
          new Getopt.Option('o', "take-out", true),
          new Getopt.Option('b', "put-back", true),
          new Getopt.Option('s', "seed", true),
          new Getopt.Option('j', "json", false),
          new Getopt.Option('l', "list", false),
          new Getopt.Option('h', "help", false));

  private final BundleContext bundle;
  private final CommandProcessor shell;

  /** What was typed. */
  private static final class Wanted {
    final List<String> devices = new ArrayList<>();
    Pattern cases = Pattern.compile(".*");
    boolean unplug;
    String takeOut;
    String putBack;
    int seed = 1;
    boolean json;
    boolean list;
    boolean help;

    Predicate<String> which() {
      return cases.asMatchPredicate();
    }
  }

  /** Made by Declarative Services. */
  @Activate
  public ContractCommand(BundleContext bundle, @Reference CommandProcessor shell) {
    this.bundle = bundle;
    this.shell = shell;
  }

  /** The shell's entry. */
  public void provider_contract(String[] arguments) {
    Command.execute((words, out, err) -> run(words, out, err), arguments);
  }

  private int run(String[] words, PrintStream out, PrintStream err) throws CommandException, InterruptedException {
    Wanted wanted = parse(words);
    if (wanted.help) {
      out.print(USAGE);
      return 0;
    }
    if (wanted.list) {
      ProviderContract.cases().stream()
          .filter(each -> wanted.which().test(each.name()))
          .forEach(each -> list(each, out));
      return 0;
    }
    try (Devices devices = new Devices(bundle)) {
      Report report = new Report(result -> print(wanted, Report.line(result), out));
      ProviderContract.run(ends(wanted, devices, err), wanted.which(), report);
      print(wanted, report.summary(), out);
      if (wanted.json) {
        out.print(report.json());
      }
      return report.count(Outcome.FAIL) == 0 ? 0 : 1;
    }
  }

  private static void list(ContractCase each, PrintStream out) {
    out.println(each.name() + ": " + each.promise());
  }

  private static void print(Wanted wanted, String line, PrintStream out) {
    if (!wanted.json) {
      out.println(line);
      out.flush();
    }
  }

  private Ends ends(Wanted wanted, Devices devices, PrintStream err) throws CommandException {
    String a = wanted.devices.getFirst();
    String b = wanted.devices.getLast();
    for (String each : wanted.devices) {
      if (devices.find(each) == null) {
        throw new CommandException("IB device " + each + " not found");
      }
    }
    Ends ends = Ends.of(() -> devices.get(a), () -> devices.get(b)).seed(wanted.seed);
    if (wanted.takeOut != null) {
      return ends.plug(new ShellPlug(shell, err, devices, wanted.devices, wanted.takeOut, wanted.putBack));
    }
    return wanted.unplug ? ends.plug(new BundlePlug(devices, wanted.devices, devices.provider(a))) : ends;
  }

  private static Wanted parse(String[] words) throws CommandException {
    Wanted wanted = new Wanted();
    try {
      Getopt.Result typed = OPTIONS.parse(words);
      for (Getopt.Given each : typed.options()) {
        option(wanted, each);
      }
      boolean half = (wanted.takeOut == null) != (wanted.putBack == null);
      if (half || (wanted.unplug && wanted.takeOut != null)) {
        throw new UsageException(NAME + ": give --take-out and --put-back together, or --unplug");
      }
      boolean devices = !wanted.devices.isEmpty() && wanted.devices.size() <= 2;
      if (!typed.operands().isEmpty() || !(devices || wanted.help || wanted.list)) {
        throw new UsageException(NAME + ": one or two devices are needed, each with -d");
      }
    } catch (UsageException e) {
      throw new CommandException(e.getMessage() + "\n" + USAGE.stripTrailing(), 1, e);
    }
    return wanted;
  }

  private static void option(Wanted wanted, Getopt.Given given) throws UsageException {
    String argument = given.argument();
    switch (given.letter()) {
      case 'd' -> wanted.devices.add(argument);
      case 'c' -> wanted.cases = pattern(argument);
      case 'u' -> wanted.unplug = true;
      case 'o' -> wanted.takeOut = argument;
      case 'b' -> wanted.putBack = argument;
      case 's' -> wanted.seed = Numbers.parse(NAME, "-s", argument, 0, Integer.MAX_VALUE);
      case 'j' -> wanted.json = true;
      case 'l' -> wanted.list = true;
      default -> wanted.help = true;
    }
  }

  private static Pattern pattern(String regex) throws UsageException {
    try {
      return Pattern.compile(regex);
    } catch (PatternSyntaxException e) {
      throw new UsageException(NAME + ": invalid argument '" + regex + "' for -c: " + e.getDescription());
    }
  }
}
