package org.rdma4j.tools.rdma;

import static java.util.Map.entry;

import java.io.PrintStream;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.rdma4j.ib.core.verbs.DeviceAttributes;
import org.rdma4j.ib.core.verbs.DeviceCapability;
import org.rdma4j.ib.core.verbs.RdmaDevice;
import org.rdma4j.ulp.command.CommandException;

/** {@code rdma dev}: the devices. */
final class DevCommand {
  private static final String USAGE = "Usage: rdma dev show [DEV]";

  private final Surroundings surroundings;
  private final PrintStream out;

  DevCommand(Surroundings surroundings, PrintStream out) {
    this.surroundings = surroundings;
    this.out = out;
  }

  void run(Arguments arguments) throws CommandException, InterruptedException {
    arguments.dispatch(
        "dev command",
        this::show,
        List.of(
            entry("show", this::show), entry("list", this::show), entry("help", ignored -> out.println(USAGE))));
  }

  private void show(Arguments arguments) throws CommandException {
    List<RdmaDevice> chosen = surroundings.devices().named(arguments.isEmpty() ? null : arguments.take());
    arguments.end();
    Report report = surroundings.report();
    report.startList();
    chosen.forEach(device -> show(device, report));
    report.endList();
  }

  private void show(RdmaDevice device, Report report) {
    DeviceAttributes attributes = device.attributes();
    report.startItem();
    report.number("ifindex", "%d: ", device.index());
    report.word("ifname", "%s: ", device.name());
    report.word("node_type", "node_type %s ", attributes.nodeType().name().toLowerCase(Locale.ROOT));
    if (!attributes.firmwareVersion().isEmpty()) {
      report.word("fw", "fw %s ", attributes.firmwareVersion());
    }
    report.word("node_guid", "node_guid %s ", attributes.nodeGuid().toString());
    report.word("sys_image_guid", "sys_image_guid %s ", attributes.systemImageGuid().toString());
    if (surroundings.details()) {
      report.flag("adaptive-moderation", "adaptive-moderation %s ", false);
      report.words("caps", "\n    caps: <", ", ", ">", capabilities(attributes));
    }
    report.endItem();
  }

  private static List<String> capabilities(DeviceAttributes attributes) {
    return Arrays.stream(DeviceCapability.values()).filter(attributes::has).map(DevCommand::nameOf).toList();
  }

  /** The real tool's names are the kernel's but for one. */
  private static String nameOf(DeviceCapability capability) {
    return capability == DeviceCapability.UD_AV_PORT_ENFORCE ? "UD_AV_PORT_ENFORCE_PORT_ENFORCE" : capability.name();
  }
}
