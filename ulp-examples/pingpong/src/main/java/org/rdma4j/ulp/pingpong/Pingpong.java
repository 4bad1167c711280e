package org.rdma4j.ulp.pingpong;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ThreadLocalRandom;
import org.rdma4j.ib.core.verbs.RdmaDevice;
import org.rdma4j.ulp.command.Command;
import org.rdma4j.ulp.command.CommandException;
import org.rdma4j.ulp.command.UsageException;

/** One run of a ping-pong program, from its options to its last line. */
final class Pingpong implements Command {
  private static final int PSN_BOUND = 1 << 24;
  private static final double NANOS_PER_MICRO = 1_000;

  private final Program program;
  private final List<RdmaDevice> devices;

  Pingpong(Program program, List<RdmaDevice> devices) {
    this.program = program;
    this.devices = devices.stream().sorted(Comparator.comparingInt(RdmaDevice::index)).toList();
  }

  @Override
  public int run(String[] arguments, PrintStream out, PrintStream err) throws CommandException, InterruptedException {
    PingpongOptions options;
    try {
      options = PingpongOptions.parse(program, arguments);
    } catch (UsageException e) {
      throw new CommandException(e.getMessage() + "\n" + Usage.of(program).stripTrailing(), 1, e);
    }
    if (options.help()) {
      out.print(Usage.of(program));
      return 0;
    }
    try (Endpoint endpoint = new Endpoint(choose(options.device()), options)) {
      return run(endpoint, options, out);
    }
  }

  private RdmaDevice choose(String name) throws CommandException {
    if (name == null && devices.isEmpty()) {
      throw new CommandException("No IB devices found");
    }
    return devices.stream()
        .filter(device -> name == null || name.equals(device.name()))
        .findFirst()
        .orElseThrow(() -> new CommandException("IB device " + name + " not found"));
  }

  private int run(Endpoint endpoint, PingpongOptions options, PrintStream out)
      throws CommandException, InterruptedException {
    boolean client = options.server() != null;
    Exchanges exchanges = new Exchanges(endpoint, options);
    exchanges.prepare();
    List<Destination> local = endpoint.addresses(() -> ThreadLocalRandom.current().nextInt(PSN_BOUND));
    String beforeGid = program == Program.UD ? ":" : ",";
    local.forEach(each -> out.println("  local address:  " + each.text(beforeGid)));
    out.flush();
    AddressExchange exchange = new AddressExchange(options.port(), padded(local));
    List<Destination> remote =
        client ? exchange.asClient(options.server()) : exchange.asServer(found -> endpoint.connect(local, found));
    remote.subList(0, local.size()).forEach(each -> out.println("  remote address: " + each.text(",")));
    out.flush();
    if (client) {
      endpoint.connect(local, remote);
      if (options.checked()) {
        Payload.mark(endpoint.message());
      }
    }
    long start = System.nanoTime();
    exchanges.run(client);
    printRates(options, System.nanoTime() - start, out);
    return client || !options.checked() ? 0 : check(endpoint, out);
  }

  private List<Destination> padded(List<Destination> addresses) {
    List<Destination> padded = new ArrayList<>(addresses);
    padded.addAll(Collections.nCopies(program.addresses() - addresses.size(), Destination.NONE));
    return padded;
  }

  private static void printRates(PingpongOptions options, long nanos, PrintStream out) {
    double micros = nanos / NANOS_PER_MICRO;
    long bytes = 2L * options.size() * options.iterations();
    // Line by line in one piece, because another command may print at the same time.
    out.println(
        String.format(
            Locale.ROOT, "%d bytes in %.2f seconds = %.2f Mbit/sec", bytes, micros / 1_000_000, bytes * 8 / micros));
    out.println(
        String.format(
            Locale.ROOT,
            "%d iters in %.2f seconds = %.2f usec/iter",
            options.iterations(),
            micros / 1_000_000,
            micros / options.iterations()));
  }

  /** Names every page that is wrong, as the original does; other than there, it is a failure. */
  private int check(Endpoint endpoint, PrintStream out) {
    int status = 0;
    long page = Payload.findWrong(endpoint.message(), program.fill(), 0);
    while (page >= 0) {
      out.println("invalid data in page " + page);
      status = 1;
      page = Payload.findWrong(endpoint.message(), program.fill(), page + 1);
    }
    return status;
  }
}
