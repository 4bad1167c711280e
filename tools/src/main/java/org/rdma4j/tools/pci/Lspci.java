package org.rdma4j.tools.pci;

import java.io.PrintStream;
import java.util.List;
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

      Display options:
      -v\t\tBe verbose
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
          new Getopt.Option('D', null, false),
          new Getopt.Option('s', null, true),
          new Getopt.Option('d', null, true),
          new Getopt.Option('\0', "help", false));

  @Reference(cardinality = ReferenceCardinality.OPTIONAL, policy = ReferencePolicy.DYNAMIC)
  private volatile PciBus bus;

  /** Made by Declarative Services. */
  @Activate
  public Lspci() {}

  Lspci(PciBus bus) {
    this.bus = bus;
  }

  /** The shell's entry. */
  public void lspci(String[] arguments) {
    Command.execute(this, arguments);
  }

  @Override
  public int run(String[] arguments, PrintStream out, PrintStream err) throws CommandException {
    FunctionFilter filter = new FunctionFilter();
    int verbose = 0;
    int numeric = 0;
    int dump = 0;
    boolean drivers = false;
    boolean domains = false;
    try {
      Getopt.Result parsed = OPTIONS.parse(arguments);
      for (Getopt.Given given : parsed.options()) {
        switch (given.letter()) {
          case 'v' -> verbose++;
          case 'n' -> numeric++;
          case 'x' -> dump++;
          case 'k' -> drivers = true;
          case 'D' -> domains = true;
          case 's', 'd' -> filter.take(given.letter(), given.argument());
          default -> {
            out.print(USAGE);
            return 0;
          }
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
    Names names = numeric == 0 ? Names.TEXT : numeric == 1 ? Names.NUMERIC : Names.MIXED;
    List<PciFunction> all = Functions.of("lspci", bus);
    boolean several = all.stream().anyMatch(function -> function.address().domain() != 0);
    FunctionReport report =
        new FunctionReport(out, names, domains || several, verbose > 0, drivers, Math.min(dump, MOST_DUMP));
    all.stream().filter(filter::matches).forEach(report::print);
    return 0;
  }
}
