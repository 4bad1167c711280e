package org.rdma4j.tools.verbs;

import java.io.PrintStream;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.Reference;
import org.osgi.service.component.annotations.ReferenceCardinality;
import org.osgi.service.component.annotations.ReferencePolicy;
import org.rdma4j.ib.core.verbs.RdmaDevice;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.ulp.command.Command;
import org.rdma4j.ulp.command.CommandException;
import org.rdma4j.ulp.command.Getopt;
import org.rdma4j.ulp.command.UsageException;

/**
 * {@code ibv_wc_explain}: what the status and the vendor error of a completion mean, and what failed on a queue pair.
 */
@Component(
    service = IbvWcExplain.class,
    property = {"osgi.command.scope=rdma", "osgi.command.function=ibv_wc_explain"})
public final class IbvWcExplain implements Command {
  private static final String NAME = "ibv_wc_explain";
  private static final String USAGE =
      """
      Usage: ibv_wc_explain                          list every status and every vendor error
             ibv_wc_explain STATUS [VENDOR_ERR]      explain the numbers of a completion; STATUS may be a name
             ibv_wc_explain STATUS [VENDOR_ERR] DEVICE QPN
             ibv_wc_explain DEVICE QPN               tell what failed first on a queue pair\
      """;
  private static final Getopt OPTIONS = new Getopt(NAME, new Getopt.Option('h', "help", false));

  @Reference(cardinality = ReferenceCardinality.MULTIPLE, policy = ReferencePolicy.DYNAMIC)
  private volatile List<RdmaDevice> devices = List.of();

  /** Made by Declarative Services. */
  @Activate
  public IbvWcExplain() {}

  IbvWcExplain(List<RdmaDevice> devices) {
    this.devices = devices;
  }

  /** The shell's entry. */
  public void ibv_wc_explain(String[] arguments) {
    Command.execute(this, arguments);
  }

  @Override
  public int run(String[] arguments, PrintStream out, PrintStream err) throws CommandException {
    List<String> operands;
    try {
      Getopt.Result parsed = OPTIONS.parse(arguments);
      if (!parsed.options().isEmpty()) {
        out.println(USAGE);
        return 0;
      }
      operands = parsed.operands();
    } catch (UsageException e) {
      throw new CommandException(e.getMessage() + "\n" + USAGE);
    }
    if (operands.isEmpty()) {
      list(out);
      return 0;
    }
    int size = operands.size();
    RdmaDevice device = size > 1 ? find(operands.get(size - 2)) : null;
    int numbers = device == null ? size : size - 2;
    if (numbers > 2) {
      throw new CommandException(NAME + ": there is no device " + operands.get(size - 2) + "\n" + USAGE);
    }
    if (numbers > 0) {
      status(out, operands.getFirst());
    }
    if (numbers > 1) {
      vendor(out, number("vendor error", operands.get(1)), device);
    }
    if (device != null) {
      queuePair(out, device, number("queue pair number", operands.get(size - 1)));
    }
    return 0;
  }

  private RdmaDevice find(String name) {
    return devices.stream().filter(each -> each.name().equals(name)).findFirst().orElse(null);
  }

  private void list(PrintStream out) {
    out.println("status");
    for (WcStatus each : WcStatus.values()) {
      out.printf("  %2d %s%n", each.number(), describe(each));
    }
    tables(null)
        .forEach(
            (names, codes) -> {
              out.printf("vendor_err of %s%n", names);
              codes.forEach((code, text) -> out.printf("  0x%02x %s%n", code, text));
            });
  }

  /** The tables of codes, each once, under the names of the devices that have it. */
  private Map<String, SortedMap<Integer, String>> tables(RdmaDevice only) {
    Map<SortedMap<Integer, String>, String> names = new LinkedHashMap<>();
    devices.stream()
        .filter(each -> only == null || only.name().equals(each.name()))
        .sorted(Comparator.comparingInt(RdmaDevice::index))
        .forEach(each -> names.merge(each.vendorErrors(), each.name(), (old, name) -> old + ", " + name));
    Map<String, SortedMap<Integer, String>> tables = new LinkedHashMap<>();
    names.forEach(
        (table, owners) -> {
          if (!table.isEmpty()) {
            tables.put(owners, table);
          }
        });
    return tables;
  }

  private static String describe(WcStatus status) {
    return status.name() + " (" + status.text() + "): " + status.explanation();
  }

  private static void status(PrintStream out, String text) throws CommandException {
    for (WcStatus each : WcStatus.values()) {
      boolean number = text.equals(String.valueOf(each.number()));
      if (number || text.equalsIgnoreCase(each.name()) || text.equalsIgnoreCase("IBV_WC_" + each.name())) {
        out.println(describe(each));
        return;
      }
    }
    throw new CommandException(
        NAME + ": " + text + " is no status; there are 0 to " + (WcStatus.values().length - 1) + ", and their names");
  }

  private void vendor(PrintStream out, int code, RdmaDevice device) throws CommandException {
    boolean found = false;
    for (Map.Entry<String, SortedMap<Integer, String>> each : tables(device).entrySet()) {
      String text = each.getValue().get(code);
      if (text != null) {
        out.printf("vendor error 0x%02x of %s: %s%n", code, each.getKey(), text);
        found = true;
      }
    }
    if (!found) {
      throw new CommandException(String.format("%s: no device knows a vendor error 0x%02x", NAME, code));
    }
  }

  private static void queuePair(PrintStream out, RdmaDevice device, int number) throws CommandException {
    String text = device.resources().failure(number);
    if (text == null) {
      throw new CommandException(NAME + ": " + device.name() + " has no queue pair " + number);
    }
    out.println(text);
  }

  private static int number(String what, String text) throws CommandException {
    try {
      return Integer.decode(text);
    } catch (NumberFormatException e) {
      throw new CommandException(NAME + ": " + what + " " + text + " is no number\n" + USAGE);
    }
  }
}
