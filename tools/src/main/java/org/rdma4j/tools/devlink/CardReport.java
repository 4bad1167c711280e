package org.rdma4j.tools.devlink;

import java.io.PrintStream;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import org.rdma4j.mlx5.core.DeviceParameter;
import org.rdma4j.mlx5.core.HealthReporter;
import org.rdma4j.mlx5.core.Mlx5Device;
import org.rdma4j.ulp.command.CommandException;

/** What devlink prints of a card, in the form of iproute2. */
final class CardReport {
  private static final DateTimeFormatter DATE = DateTimeFormatter.ofPattern("yyyy-MM-dd");
  private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("HH:mm:ss");

  private CardReport() {}

  static void info(Mlx5Device device, PrintStream out) {
    out.printf("pci/%s:%n  driver mlx5_core%n  versions:%n", device.name());
    out.printf("      fixed:%n        fw.psid %s%n", device.boardId());
    out.printf("      running:%n        fw.version %1$s%n        fw %1$s%n", device.firmwareVersion());
  }

  /** Prints settings, or one of them. */
  static void parameters(Mlx5Device device, String only, PrintStream out) {
    out.printf("pci/%s:%n", device.name());
    for (DeviceParameter each : DeviceParameter.values()) {
      if (only == null || only.equals(each.text())) {
        int value = device.parameter(each);
        String kind = each == DeviceParameter.COMMAND_CHECKSUM ? "driver-specific" : "generic";
        out.printf("  name %s type %s%n    values:%n", each.text(), kind);
        out.printf("      cmode driverinit value %s%n", isFlag(each) ? String.valueOf(value != 0) : value);
      }
    }
  }

  private static boolean isFlag(DeviceParameter parameter) {
    return parameter.least() == 0 && parameter.most() == 1;
  }

  /** Changes a setting. */
  static void set(Mlx5Device device, String name, String value) throws CommandException {
    for (DeviceParameter each : DeviceParameter.values()) {
      if (each.text().equals(name)) {
        device.parameter(each, isFlag(each) ? flag(value) : number(value));
        return;
      }
    }
    throw new CommandException("Parameter \"" + name + "\" is not known: known are " + names());
  }

  private static String names() {
    StringBuilder all = new StringBuilder();
    for (DeviceParameter each : DeviceParameter.values()) {
      all.append(all.isEmpty() ? "" : ", ").append(each.text());
    }
    return all.toString();
  }

  private static int flag(String value) throws CommandException {
    return switch (value) {
      case "true", "1" -> 1;
      case "false", "0" -> 0;
      default -> throw new CommandException("Value \"" + value + "\" is not a number or not within range");
    };
  }

  private static int number(String value) throws CommandException {
    try {
      return Integer.parseInt(value);
    } catch (NumberFormatException e) {
      throw new CommandException("Value \"" + value + "\" is not a number or not within range", 1, e);
    }
  }

  /** Prints health reporters, or one of them. */
  static void health(Mlx5Device device, String only, PrintStream out) {
    out.printf("pci/%s:%n", device.name());
    for (HealthReporter each : device.healthReporters()) {
      if (only == null || only.equals(each.name())) {
        out.printf(
            "  reporter %s%n    state %s error %d recover %d",
            each.name(), each.healthy() ? "healthy" : "error", each.errors(), each.recoveries());
        if (each.lastError() != null) {
          ZonedDateTime when = each.lastError().atZone(ZoneId.systemDefault());
          out.printf(" last_dump_date %s last_dump_time %s", DATE.format(when), TIME.format(when));
        }
        if (each.autoRecover()) {
          out.printf(" grace_period %d auto_recover true", each.gracePeriodMillis());
        }
        out.print(" auto_dump true"); // Both dump what the health buffer says when they hear of an error.
        out.println();
      }
    }
  }
}
