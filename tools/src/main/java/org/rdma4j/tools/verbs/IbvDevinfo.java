package org.rdma4j.tools.verbs;

import java.io.PrintStream;
import java.util.Comparator;
import java.util.List;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.Reference;
import org.osgi.service.component.annotations.ReferenceCardinality;
import org.osgi.service.component.annotations.ReferencePolicy;
import org.rdma4j.ib.core.verbs.RdmaDevice;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.ulp.command.Command;
import org.rdma4j.ulp.command.CommandException;
import org.rdma4j.ulp.command.Getopt;
import org.rdma4j.ulp.command.Numbers;
import org.rdma4j.ulp.command.UsageException;

/** {@code ibv_devinfo}: attributes of devices and their ports. */
@Component(
    service = IbvDevinfo.class,
    property = {"osgi.command.scope=rdma", "osgi.command.function=ibv_devinfo"})
public final class IbvDevinfo implements Command {
  private static final String NAME = "ibv_devinfo";
  private static final int NO_DEVICE = 255;
  private static final int QUERY_FAILED = 2;
  private static final int NO_SUCH_PORT = 4;
  private static final int MAX_PORT = 255;
  private static final String USAGE =
      """
      Usage: ibv_devinfo             print the ca attributes

      Options:
        -d, --ib-dev=<dev>     use IB device <dev> (default all devices)
        -i, --ib-port=<port>   use port <port> of IB device (default all ports)
        -l, --list             print only the IB devices names
        -v, --verbose          print all the attributes of the IB device(s)
            --help             print this
      """;
  private static final Getopt OPTIONS =
      new Getopt(
          NAME,
          new Getopt.Option('d', "ib-dev", true),
          new Getopt.Option('i', "ib-port", true),
          new Getopt.Option('l', "list", false),
          new Getopt.Option('v', "verbose", false),
          new Getopt.Option('h', "help", false));

  @Reference(cardinality = ReferenceCardinality.MULTIPLE, policy = ReferencePolicy.DYNAMIC)
  private volatile List<RdmaDevice> devices = List.of();

  /** Made by Declarative Services. */
  @Activate
  public IbvDevinfo() {}

  IbvDevinfo(List<RdmaDevice> devices) {
    this.devices = devices;
  }

  /** The shell's entry. */
  public void ibv_devinfo(String[] arguments) {
    Command.execute(this, arguments);
  }

  @Override
  public int run(String[] arguments, PrintStream out, PrintStream err) throws CommandException {
    String name = null;
    int port = 0;
    boolean verbose = false;
    try {
      for (Getopt.Given given : OPTIONS.parse(arguments).options()) {
        switch (given.letter()) {
          case 'd' -> name = given.argument();
          case 'i' -> port = Numbers.parse(NAME, "-i", given.argument(), 1, MAX_PORT);
          case 'v' -> verbose = true;
          case 'l' -> {
            list(out);
            return 0;
          }
          default -> {
            out.print(USAGE);
            return 0;
          }
        }
      }
    } catch (UsageException e) {
      throw new CommandException(e.getMessage() + "\n" + USAGE.stripTrailing(), NO_DEVICE, e);
    }
    return describe(chosen(name), port, new DeviceReport(out, verbose), err);
  }

  private List<RdmaDevice> chosen(String name) throws CommandException {
    List<RdmaDevice> all = sorted();
    if (name == null) {
      if (all.isEmpty()) {
        throw new CommandException("No IB devices found", NO_DEVICE, null);
      }
      return all;
    }
    List<RdmaDevice> one = all.stream().filter(device -> name.equals(device.name())).toList();
    if (one.isEmpty()) {
      throw new CommandException("IB device '" + name + "' wasn't found", NO_DEVICE, null);
    }
    return one;
  }

  private static int describe(List<RdmaDevice> chosen, int port, DeviceReport report, PrintStream err) {
    int status = 0;
    for (RdmaDevice device : chosen) {
      if (port > device.portCount()) {
        err.println("Invalid port requested for device");
        status |= NO_SUCH_PORT;
        continue;
      }
      try {
        report.print(device, port);
      } catch (VerbsException e) {
        err.println("Failed to query " + device.name() + ": " + e.getMessage());
        status |= QUERY_FAILED;
      }
    }
    return status;
  }

  private void list(PrintStream out) {
    List<RdmaDevice> all = sorted();
    out.printf("%d HCA%s found:%n", all.size(), all.size() == 1 ? "" : "s");
    all.forEach(device -> out.printf("\t%s%n", device.name()));
    out.println();
  }

  private List<RdmaDevice> sorted() {
    return devices.stream().sorted(Comparator.comparingInt(RdmaDevice::index)).toList();
  }
}
