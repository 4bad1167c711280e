package org.rdma4j.tools.rdma;

import static java.util.Map.entry;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToIntFunction;
import org.osgi.framework.BundleContext;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.Reference;
import org.osgi.service.component.annotations.ReferenceCardinality;
import org.osgi.service.component.annotations.ReferencePolicy;
import org.osgi.service.component.annotations.ReferencePolicyOption;
import org.rdma4j.ib.core.client.LinkOperations;
import org.rdma4j.ib.core.verbs.RdmaDevice;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.rdma.cm.CmIdResource;
import org.rdma4j.rdma.cm.RdmaCm;
import org.rdma4j.ulp.command.Command;
import org.rdma4j.ulp.command.CommandException;
import org.rdma4j.ulp.command.Getopt;
import org.rdma4j.ulp.command.UsageException;

/** The {@code rdma} tool: its options, and the way to its objects. */
@Component(
    service = RdmaCommand.class,
    property = {"osgi.command.scope=rdma", "osgi.command.function=rdma"})
public final class RdmaCommand implements Command {
  private static final String USAGE =
      """
      Usage: rdma [ OPTIONS ] OBJECT { COMMAND | help }
             rdma [ -f[orce] ] -b[atch] filename
      where  OBJECT := { dev | link | resource | monitor | system | statistic | help }
             OPTIONS := { -V[ersion] | -d[etails] | -j[son] | -p[retty] }
      """;

  private static final Getopt OPTIONS =
      new Getopt(
          "rdma",
          new Getopt.Option('V', "version", false),
          new Getopt.Option('h', "help", false),
          new Getopt.Option('j', "json", false),
          new Getopt.Option('p', "pretty", false),
          new Getopt.Option('d', "details", false),
          new Getopt.Option('f', "force", false),
          new Getopt.Option('b', "batch", true));

  private final MonitorCommand.Watching watching;
  private final ToIntFunction<String> netdevIndex;
  private final String version;

  @Reference(cardinality = ReferenceCardinality.MULTIPLE, policy = ReferencePolicy.DYNAMIC)
  private volatile List<RdmaDevice> devices = List.of();

  @Reference(cardinality = ReferenceCardinality.MULTIPLE, policy = ReferencePolicy.DYNAMIC)
  private volatile List<LinkOperations> linkTypes = List.of();

  /** Without it there are no connections. */
  @Reference(
      cardinality = ReferenceCardinality.OPTIONAL,
      policy = ReferencePolicy.DYNAMIC,
      policyOption = ReferencePolicyOption.GREEDY)
  private volatile RdmaCm connectionManager;

  /** Made by Declarative Services. */
  @Activate
  public RdmaCommand(BundleContext context) {
    netdevIndex = Surroundings::kernelIndex;
    watching = listener -> new Monitor(context, netdevIndex, listener)::close;
    version = context.getBundle().getVersion().toString();
  }

  RdmaCommand(
      List<RdmaDevice> devices, List<LinkOperations> linkTypes, RdmaCm connectionManager,
      MonitorCommand.Watching watching, ToIntFunction<String> netdevIndex) {
    this.devices = devices;
    this.linkTypes = linkTypes;
    this.connectionManager = connectionManager;
    this.watching = watching;
    this.netdevIndex = netdevIndex;
    version = "test";
  }

  /** The shell's entry. */
  public void rdma(String[] arguments) {
    Command.execute(this, arguments);
  }

  @Override
  public int run(String[] arguments, PrintStream out, PrintStream err) throws CommandException, InterruptedException {
    boolean json = false;
    boolean pretty = false;
    boolean details = false;
    boolean force = false;
    String batch = null;
    Getopt.Result result;
    try {
      result = OPTIONS.parse(arguments);
    } catch (UsageException e) {
      throw new CommandException("Unknown option.\n" + USAGE.stripTrailing(), 1, e);
    }
    for (Getopt.Given given : result.options()) {
      switch (given.letter()) {
        case 'j' -> json = true;
        case 'p' -> pretty = true;
        case 'd' -> details = true;
        case 'f' -> force = true;
        case 'b' -> batch = given.argument();
        case 'V' -> {
          out.println("rdma utility, rdma4j-" + version);
          return 0;
        }
        default -> {
          out.print(USAGE);
          return 0;
        }
      }
    }
    Runner runner = new Runner(json, pretty, details, out);
    if (batch == null) {
      runner.run(new Arguments(result.operands()));
      return 0;
    }
    return runBatch(batch, force, runner, err);
  }

  /** Runs the commands of a file, one a line; stops at the first that fails unless forced. */
  private static int runBatch(String file, boolean force, Runner runner, PrintStream err)
      throws CommandException, InterruptedException {
    int status = 0;
    int number = 0;
    for (String line : linesOf(file)) {
      number++;
      String command = line.replaceFirst("#.*", "").strip();
      if (command.isEmpty()) {
        continue;
      }
      try {
        runner.run(new Arguments(List.of(command.split("\\s+"))));
      } catch (CommandException e) {
        err.println(e.getMessage());
        err.println("Command failed " + file + ":" + number);
        status = 1;
        if (!force) {
          break;
        }
      }
    }
    return status;
  }

  private static List<String> linesOf(String file) throws CommandException {
    try {
      return Files.readAllLines(Path.of(file));
    } catch (IOException | IllegalArgumentException e) {
      throw new CommandException("Cannot open file \"" + file + "\" for reading", e);
    }
  }

  private List<CmIdResource> connections() {
    RdmaCm present = connectionManager;
    return present == null ? List.of() : present.resources();
  }

  /** Runs one command; the devices are those that are there when it starts. */
  private final class Runner {
    private final boolean json;
    private final boolean pretty;
    private final boolean details;
    private final PrintStream out;

    Runner(boolean json, boolean pretty, boolean details, PrintStream out) {
      this.json = json;
      this.pretty = pretty;
      this.details = details;
      this.out = out;
    }

    void run(Arguments arguments) throws CommandException, InterruptedException {
      Surroundings surroundings =
          new Surroundings(
              new Devices(devices),
              new ArrayList<>(linkTypes),
              connections(),
              Report.to(out, json, pretty),
              details,
              netdevIndex);
      Arguments.Action help = ignored -> out.print(USAGE);
      try {
        arguments.dispatch(
            "object",
            help,
            List.of(
                entry("help", help),
                entry("dev", new DevCommand(surroundings, out)::run),
                entry("link", new LinkCommand(surroundings, out)::run),
                entry("resource", new ResourceCommand(surroundings, out)::run),
                entry("system", new SystemCommand(surroundings, out)::run),
                entry("statistic", new StatisticCommand(surroundings, out)::run),
                entry("monitor", new MonitorCommand(surroundings, watching, out)::run)));
      } catch (VerbsException e) {
        throw LinkCommand.failure(e);
      }
    }
  }
}
