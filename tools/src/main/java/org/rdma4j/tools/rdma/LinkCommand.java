package org.rdma4j.tools.rdma;

import static java.util.Map.entry;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import org.rdma4j.ib.core.client.LinkOperations;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.LinkLayer;
import org.rdma4j.ib.core.verbs.PortAttributes;
import org.rdma4j.ib.core.verbs.PortPhysState;
import org.rdma4j.ib.core.verbs.RdmaDevice;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.ulp.command.CommandException;

/** {@code rdma link}: the ports, and making and removing software devices. */
final class LinkCommand {
  private static final String USAGE =
      """
      Usage: rdma link show [DEV/PORT_INDEX]
      Usage: rdma link add NAME type TYPE netdev NETDEV [addr ADDRESS]
      Usage: rdma link delete NAME
      """;

  private static final String[] CAPABILITIES = {
    null, "SM", "NOTICE", "TRAP", "OPT_IPD", "AUTO_MIGR", "SL_MAP", "MKEY_NVRAM", "PKEY_NVRAM", "LED_INFO",
    "SM_DISABLED", "SYS_IMAGE_GUID", "PKEY_SW_EXT_PORT_TRAP", "CABLE_INFO", "EXTENDED_SPEEDS", "CAP_MASK2", "CM",
    "SNMP_TUNNEL", "REINIT", "DEVICE_MGMT", "VENDOR_CLASS", "DR_NOTICE", "CAP_MASK_NOTICE", "BOOT_MGMT",
    "LINK_LATENCY", "CLIENT_REG", "OTHER_LOCAL_CHANGES", "LINK_SPPED_WIDTH", "VENDOR_SPECIFIC_MADS",
    "MULT_PKER_TRAP", "MULT_FDB", "HIERARCHY_INFO"
  };

  private final Surroundings surroundings;
  private final PrintStream out;

  LinkCommand(Surroundings surroundings, PrintStream out) {
    this.surroundings = surroundings;
    this.out = out;
  }

  void run(Arguments arguments) throws CommandException, InterruptedException {
    arguments.dispatch(
        "link command",
        this::show,
        List.of(
            entry("add", this::add),
            entry("delete", this::delete),
            entry("show", this::show),
            entry("list", this::show),
            entry("help", ignored -> out.print(USAGE))));
  }

  private void show(Arguments arguments) throws CommandException {
    List<Devices.Link> chosen = surroundings.devices().links(arguments.isEmpty() ? null : arguments.take(), true);
    arguments.end();
    Report report = surroundings.report();
    report.startList();
    chosen.forEach(link -> show(link, report));
    report.endList();
  }

  private void show(Devices.Link link, Report report) {
    RdmaDevice device = link.device();
    PortAttributes port = device.port(link.port());
    boolean infiniband = port.linkLayer() == LinkLayer.INFINIBAND;
    report.startItem();
    report.number("ifindex", null, device.index());
    report.word("ifname", "link %s/", device.name());
    report.number("port", "%d ", link.port());
    if (infiniband) {
      report.word("subnet_prefix", "subnet_prefix %s ", groups(port.subnetPrefix()));
      report.number("lid", "lid %d ", port.lid());
      report.number("sm_lid", "sm_lid %d ", port.smLid());
      report.number("lmc", "lmc %d ", port.lmc());
    }
    report.word("state", "state %s ", port.state().name());
    report.word("physical_state", "physical_state %s ", physicalState(port.physicalState()));
    String netdev = device.netdev(link.port());
    if (netdev != null) {
      report.word("netdev", "netdev %s ", netdev);
      int index = surroundings.netdevIndex().applyAsInt(netdev);
      report.number("netdev_index", surroundings.details() ? "netdev_index %d " : null, index);
    }
    if (surroundings.details() && infiniband) {
      report.words("caps", "\n    caps: <", ", ", ">", capabilities(port.capabilityFlags()));
    }
    report.endItem();
  }

  private void add(Arguments arguments) throws CommandException {
    String name = arguments.take("Please provide a link name to add.");
    if (arguments.isEmpty()) {
      out.print(USAGE);
      return;
    }
    keyword(arguments, "type");
    String type = arguments.take("Please provide a link type name.");
    if (arguments.isEmpty()) {
      out.print(USAGE);
      return;
    }
    keyword(arguments, "netdev");
    String netdev = arguments.take("Please provide a net device name.");
    String address = null;
    if (!arguments.isEmpty()) {
      keyword(arguments, "addr");
      address = arguments.take("Please provide an address.");
    }
    arguments.end();
    try {
      makerOf(type).newLink(name, netdev, address);
    } catch (VerbsException e) {
      throw failure(e);
    }
  }

  private void delete(Arguments arguments) throws CommandException {
    String name = arguments.take("Please provide device name.");
    RdmaDevice device = surroundings.devices().named(name).getFirst();
    if (!arguments.isEmpty()) {
      throw new CommandException("Unknown parameter " + arguments.peek());
    }
    try {
      makerOf(device.driver()).deleteLink(name);
    } catch (VerbsException e) {
      throw failure(e);
    }
  }

  private static void keyword(Arguments arguments, String word) throws CommandException {
    if (!arguments.takeKeyword(word)) {
      throw new CommandException("Unknown parameter '" + arguments.peek() + "'.");
    }
  }

  private LinkOperations makerOf(String type) {
    List<String> known = new ArrayList<>();
    for (LinkOperations each : surroundings.linkTypes()) {
      if (each.type().equals(type)) {
        return each;
      }
      known.add(each.type());
    }
    throw new VerbsException(Errno.EINVAL, "no link type " + type + " among " + known);
  }

  static CommandException failure(VerbsException cause) {
    return new CommandException("error: " + cause.errno().text(), cause);
  }

  private static String groups(long value) {
    return Report.format("%016x", value).replaceAll("(.{4})(?=.)", "$1:");
  }

  /** The real tool's names, which differ from the kernel's for two states. */
  private static String physicalState(PortPhysState state) {
    return switch (state) {
      case PORT_CONFIGURATION_TRAINING -> "ARMED";
      case LINK_ERROR_RECOVERY -> "LINK_ERROR_RECOVER";
      default -> state.name();
    };
  }

  private static List<String> capabilities(int flags) {
    List<String> names = new ArrayList<>();
    for (int bit = 0; bit < CAPABILITIES.length; bit++) {
      if ((flags >>> bit & 1) != 0) {
        names.add(CAPABILITIES[bit] == null ? "UNKNOWN" : CAPABILITIES[bit]);
      }
    }
    return names;
  }
}
