package org.rdma4j.tools.pci;

import java.io.PrintStream;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.Reference;
import org.osgi.service.component.annotations.ReferenceCardinality;
import org.osgi.service.component.annotations.ReferencePolicy;
import org.rdma4j.pci.PciBus;
import org.rdma4j.pci.PciFunction;
import org.rdma4j.ulp.command.Command;
import org.rdma4j.ulp.command.CommandException;
import org.rdma4j.ulp.command.Getopt;
import org.rdma4j.ulp.command.UsageException;

/** {@code lspci}: what is on the bus. */
@Component(
    service = Lspci.class,
    property = {"osgi.command.scope=rdma", "osgi.command.function=lspci"})
public final class Lspci implements Command {
  private static final int MOST_DUMP = 4;
  private static final String USAGE =
      """
      Usage: lspci [<switches>]

      Basic display modes:
      -mm\t\tProduce machine-readable output (single -m for an obsolete format)

      Display options:
      -v\t\tBe verbose (-vv or -vvv for higher verbosity)
      -k\t\tShow kernel drivers handling each device
      -x\t\tShow hex-dump of the standard part of the config space
      -xxx\t\tShow hex-dump of the whole config space
      -xxxx\t\tShow hex-dump of the 4096-byte extended config space
      -D\t\tAlways show domain numbers

      Resolving of device ID's to names:
      -n\t\tShow numeric ID's
      -nn\t\tShow both textual and numeric ID's (names & numbers)

      Selection of devices:
      -s [[[[<domain>]:]<bus>]:][<slot>][.[<func>]]\tShow only devices in selected slots
      -d [<vendor>]:[<device>][:<class>[:<prog-if>]]\tShow only devices with specified ID's
      """;
  private static final Getopt OPTIONS =
      new Getopt(
          "lspci",
          new Getopt.Option('v', null, false),
          new Getopt.Option('n', null, false),
          new Getopt.Option('x', null, false),
          new Getopt.Option('k', null, false),
          new Getopt.Option('m', null, false),
          new Getopt.Option('D', null, false),
          new Getopt.Option('s', null, true),
          new Getopt.Option('d', null, true),
          new Getopt.Option('\0', "help", false));

  @Reference(cardinality = ReferenceCardinality.OPTIONAL, policy = ReferencePolicy.DYNAMIC)
  private volatile PciBus bus;

  private final Supplier<PciIds> ids;

  /** Made by Declarative Services. */
  @Activate
  public Lspci() {
    this.ids = PciIds::ofMachine;
  }

  Lspci(PciBus bus, PciIds ids) {
    this.bus = bus;
    this.ids = () -> ids;
  }

  /** The shell's entry. */
  public void lspci(String[] arguments) {
    Command.execute(this, arguments);
  }

  @Override
  public int run(String[] arguments, PrintStream out, PrintStream err) throws CommandException {
    FunctionFilter filter = new FunctionFilter();
    Map<Character, Integer> given = new HashMap<>();
    try {
      Getopt.Result parsed = OPTIONS.parse(arguments);
      for (Getopt.Given option : parsed.options()) {
        switch (option.letter()) {
          case 's', 'd' -> filter.take(option.letter(), option.argument());
          case '\0' -> {
            out.print(USAGE);
            return 0;
          }
          default -> given.merge(option.letter(), 1, Integer::sum);
        }
      }
      if (!parsed.operands().isEmpty()) {
        throw new CommandException(USAGE.stripTrailing());
      }
    } catch (UsageException e) {
      throw new CommandException(e.getMessage() + "\n" + USAGE.stripTrailing(), 1, e);
    } catch (FunctionFilter.BadFilter e) {
      throw new CommandException("lspci: " + e.getMessage(), 1, e);
    }
    List<PciFunction> all = Functions.of("lspci", bus);
    boolean several = all.stream().anyMatch(function -> function.address().domain() != 0);
    all.stream().filter(filter::matches).forEach(report(given, given.containsKey('D') || several, out));
    return 0;
  }

  private Consumer<PciFunction> report(Map<Character, Integer> given, boolean domains, PrintStream out) {
    Names.Form form =
        switch (given.getOrDefault('n', 0)) {
          case 0 -> Names.Form.TEXT;
          case 1 -> Names.Form.NUMERIC;
          default -> Names.Form.MIXED;
        };
    Names names = new Names(form, ids.get());
    int verbose = given.getOrDefault('v', 0);
    boolean drivers = given.containsKey('k');
    int machine = given.getOrDefault('m', 0);
    if (machine > 0) {
      MachineReport report = new MachineReport(out, names, domains, drivers);
      return verbose > 0 ? function -> report.record(function, machine > 1 ? "Slot" : "Device") : report::line;
    }
    int dump = Math.min(given.getOrDefault('x', 0), MOST_DUMP);
    return new FunctionReport(out, names, domains, verbose, drivers, dump)::print;
  }
}
