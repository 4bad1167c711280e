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
import org.rdma4j.ulp.command.Command;
import org.rdma4j.ulp.command.CommandException;
import org.rdma4j.ulp.command.Getopt;
import org.rdma4j.ulp.command.UsageException;

/** {@code ibv_devices}: names and node GUIDs. */
@Component(
    service = IbvDevices.class,
    property = {"osgi.command.scope=rdma", "osgi.command.function=ibv_devices"})
public final class IbvDevices implements Command {
  private static final String USAGE = "Usage: ibv_devices             list the RDMA devices";
  private static final Getopt OPTIONS = new Getopt("ibv_devices", new Getopt.Option('h', "help", false));

  @Reference(cardinality = ReferenceCardinality.MULTIPLE, policy = ReferencePolicy.DYNAMIC)
  private volatile List<RdmaDevice> devices = List.of();

  /** Made by Declarative Services. */
  @Activate
  public IbvDevices() {}

  IbvDevices(List<RdmaDevice> devices) {
    this.devices = devices;
  }

  /** The shell's entry. */
  public void ibv_devices(String[] arguments) {
    Command.execute(this, arguments);
  }

  @Override
  public int run(String[] arguments, PrintStream out, PrintStream err) throws CommandException {
    try {
      if (!OPTIONS.parse(arguments).options().isEmpty()) {
        out.println(USAGE);
        return 0;
      }
    } catch (UsageException e) {
      throw new CommandException(e.getMessage() + "\n" + USAGE);
    }
    out.printf("    %-16s\t   node GUID%n", "device");
    out.printf("    %-16s\t----------------%n", "------");
    for (RdmaDevice device : devices.stream().sorted(Comparator.comparingInt(RdmaDevice::index)).toList()) {
      out.printf("    %-16s\t%016x%n", device.name(), device.nodeGuid().value());
    }
    return 0;
  }
}
