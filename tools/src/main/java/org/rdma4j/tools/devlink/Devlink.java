package org.rdma4j.tools.devlink;

import java.io.PrintStream;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.Reference;
import org.osgi.service.component.annotations.ReferenceCardinality;
import org.osgi.service.component.annotations.ReferencePolicy;
import org.rdma4j.mlx5.core.Mlx5Device;
import org.rdma4j.mlx5.core.Mlx5Exception;
import org.rdma4j.ulp.command.Command;
import org.rdma4j.ulp.command.CommandException;

/** {@code devlink}: cards, their settings and their health. */
@Component(
    service = Devlink.class,
    property = {"osgi.command.scope=rdma", "osgi.command.function=devlink"})
public final class Devlink implements Command {
  private static final String USAGE =
      """
      Usage: devlink OBJECT { COMMAND | help }
      where  OBJECT := { dev | health }

      devlink dev show [ DEV ]
      devlink dev info [ DEV ]
      devlink dev param show [ DEV name PARAMETER ]
      devlink dev param set DEV name PARAMETER value VALUE cmode driverinit
      devlink dev reload DEV
      devlink health show [ DEV reporter REPORTER ]
      devlink health recover DEV reporter REPORTER
      devlink health set DEV reporter REPORTER grace_period MSEC

      where  DEV := pci/SLOT, as pci/0000:03:00.0""";
  private static final String BUS = "pci/";

  @Reference(cardinality = ReferenceCardinality.MULTIPLE, policy = ReferencePolicy.DYNAMIC)
  private volatile List<Mlx5Device> devices = List.of();

  /** Made by Declarative Services. */
  @Activate
  public Devlink() {}

  Devlink(List<Mlx5Device> devices) {
    this.devices = devices;
  }

  /** The shell's entry. */
  public void devlink(String[] arguments) {
    Command.execute(this, arguments);
  }

  @Override
  public int run(String[] arguments, PrintStream out, PrintStream err) throws CommandException {
    Deque<String> words = new ArrayDeque<>(Arrays.asList(arguments));
    String object = words.isEmpty() ? "help" : words.poll();
    try {
      switch (object) {
        case "dev" -> dev(words, out);
        case "health" -> health(words, out);
        case "help", "-h", "--help" -> out.println(USAGE);
        default -> throw new CommandException("Object \"" + object + "\" not found");
      }
    } catch (Mlx5Exception e) {
      throw new CommandException("kernel answers: " + e.getMessage(), 1, e);
    }
    return 0;
  }

  private void dev(Deque<String> words, PrintStream out) throws CommandException {
    String command = words.isEmpty() ? "show" : words.poll();
    switch (command) {
      case "show", "list" -> chosen(words.poll()).forEach(device -> out.println(BUS + device.name()));
      case "info" -> chosen(words.poll()).forEach(device -> CardReport.info(device, out));
      case "param" -> parameters(words, out);
      case "reload" -> {
        one(words.poll()).reload();
        out.println("reload_actions_performed:");
        out.println("    driver_reinit");
      }
      case "help" -> out.println(USAGE);
      default -> throw new CommandException("Command \"" + command + "\" not found");
    }
  }

  private void parameters(Deque<String> words, PrintStream out) throws CommandException {
    String command = words.isEmpty() ? "show" : words.poll();
    String handle = words.poll();
    switch (command) {
      case "show", "list" -> {
        String name = option(words, "name");
        chosen(handle).forEach(device -> CardReport.parameters(device, name, out));
      }
      case "set" -> {
        Mlx5Device device = one(handle);
        String name = required(words, "name");
        String value = required(words, "value");
        String mode = required(words, "cmode");
        if (!mode.equals("driverinit")) {
          throw new CommandException("kernel answers: Operation not supported");
        }
        CardReport.set(device, name, value);
      }
      default -> throw new CommandException("Command \"" + command + "\" not found");
    }
  }

  private void health(Deque<String> words, PrintStream out) throws CommandException {
    String command = words.isEmpty() ? "show" : words.poll();
    String handle = words.poll();
    switch (command) {
      case "show", "list" -> {
        String reporter = option(words, "reporter");
        chosen(handle).forEach(device -> CardReport.health(device, reporter, out));
      }
      case "recover" -> {
        Mlx5Device device = one(handle);
        fatalReporter(words);
        device.recover();
      }
      case "set" -> {
        Mlx5Device device = one(handle);
        fatalReporter(words);
        device.gracePeriod(number(required(words, "grace_period")));
      }
      case "help" -> out.println(USAGE);
      default -> throw new CommandException("Command \"" + command + "\" not found");
    }
  }

  /** The other one does not recover. */
  private static void fatalReporter(Deque<String> words) throws CommandException {
    String reporter = required(words, "reporter");
    if (!reporter.equals("fw_fatal")) {
      throw new CommandException(
          "kernel answers: " + (reporter.equals("fw") ? "Operation not supported" : "Invalid argument"));
    }
  }

  private static long number(String text) throws CommandException {
    try {
      return Long.parseUnsignedLong(text);
    } catch (NumberFormatException e) {
      throw new CommandException("\"" + text + "\" is not a number or not within range", 1, e);
    }
  }

  /** The word behind a keyword, or null when there are no more words. */
  private static String option(Deque<String> words, String keyword) throws CommandException {
    return words.isEmpty() ? null : required(words, keyword);
  }

  private static String required(Deque<String> words, String keyword) throws CommandException {
    String found = words.poll();
    if (found == null) {
      throw new CommandException("\"" + keyword + "\" is expected");
    }
    if (!found.equals(keyword)) {
      throw new CommandException("Unknown option \"" + found + "\"");
    }
    if (words.isEmpty()) {
      throw new CommandException("\"" + keyword + "\" has no value");
    }
    return words.poll();
  }

  private List<Mlx5Device> chosen(String handle) throws CommandException {
    return handle == null
        ? devices.stream().sorted(Comparator.comparing(Mlx5Device::name)).toList()
        : List.of(one(handle));
  }

  private Mlx5Device one(String handle) throws CommandException {
    if (handle == null) {
      throw new CommandException("Device identification (\"bus_name/dev_name\") is expected");
    }
    if (handle.indexOf('/') < 0) {
      throw new CommandException("Wrong identification string format.\nExpected \"bus_name/dev_name\".");
    }
    for (Mlx5Device device : devices) {
      if (handle.equals(BUS + device.name())) {
        return device;
      }
    }
    throw new CommandException("kernel answers: No such device");
  }
}
