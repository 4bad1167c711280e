package org.rdma4j.ulp.demo;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.osgi.framework.BundleContext;
import org.osgi.framework.BundleException;
import org.osgi.util.tracker.ServiceTracker;
import org.rdma4j.ib.core.verbs.AsyncEventType;
import org.rdma4j.ib.core.verbs.GidEntry;
import org.rdma4j.ib.core.verbs.RdmaDevice;
import org.rdma4j.ib.core.verbs.ResourceTable;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.ulp.command.CommandException;

/** The steps of the demonstration, each with its heading, its numbers and its checks. */
final class Demo implements AutoCloseable {
  private static final long PATIENCE_MILLIS = 10_000;
  private static final long LOOK_MILLIS = 20;
  private static final int ENOUGH_MESSAGES = 10;
  private static final long NANOS_PER_MILLI = 1_000_000;

  private final int trafficMillis;
  private final Checks checks;
  private final PrintStream out;
  private final BundleContext bundle;
  private final ServiceTracker<RdmaDevice, RdmaDevice> tracker;
  private final Watcher watcher = new Watcher();
  private final List<Connection> connections = new ArrayList<>();
  private final List<Sleeper> sleepers = new ArrayList<>();
  private final List<Gid> addresses = new ArrayList<>();
  private List<String> names = List.of();
  private Provider provider;
  private int step;

  Demo(BundleContext bundle, int trafficMillis, Checks checks, PrintStream out) {
    this.bundle = bundle;
    this.trafficMillis = trafficMillis;
    this.checks = checks;
    this.out = out;
    tracker = new ServiceTracker<>(bundle, RdmaDevice.class, null);
    tracker.open();
  }

  void run() throws CommandException, InterruptedException {
    try {
      devices();
      traffic("Traffic between them, every byte checked");
      unplug();
      plugIn();
      traffic("The traffic again, on the devices that came back");
      finish();
    } catch (VerbsException e) {
      throw new CommandException("demo: " + e.errno(), e);
    }
  }

  private void devices() throws CommandException, InterruptedException {
    heading("Two devices, and the bundle that provides them");
    List<RdmaDevice> found = ofOneDriver(present());
    if (found.size() < 2) {
      throw new CommandException("demo: two devices of one driver are needed, there are " + present());
    }
    names = found.subList(0, 2).stream().map(RdmaDevice::name).toList();
    provider = Provider.of(bundle, names.getFirst());
    if (provider == null || !provider.isSame(Provider.of(bundle, names.getLast()))) {
      throw new CommandException("demo: " + String.join(" and ", names) + " do not come from one provider");
    }
    Table table = new Table("device", "driver", "interface", "GID", "provider bundle");
    for (RdmaDevice device : found.subList(0, 2)) {
      List<GidEntry> gids = device.gidTable(1).entries();
      if (gids.isEmpty()) {
        throw new CommandException("demo: " + device.name() + " has no GID");
      }
      gids.forEach(entry -> addresses.add(entry.gid()));
      table.add(device.name(), device.driver(), device.netdev(1), gids.getFirst().gid(), provider.name());
    }
    table.print(out);
    watcher.start(bundle);
    for (String name : names) {
      checks.expect("clients told of " + name, Watcher.CLIENTS, watcher.order(true, name));
    }
    out.println("   2 clients watch them: each was told of both, in order of registration.");
  }

  /** Starts four connections and lets them run. */
  private void traffic(String title) throws InterruptedException {
    heading(title);
    RdmaDevice one = device(names.getFirst());
    RdmaDevice two = device(names.getLast());
    connections.add(new Connection(one, two, false));
    connections.add(new Connection(two, one, false));
    connections.add(new Connection(one, two, true));
    connections.add(new Connection(two, one, true));
    connections.forEach(Connection::start);
    long millis = letRun();
    Table table = new Table("reliable connection", "messages", "KiB", "messages with wrong bytes");
    for (Connection each : connections) {
      long delivered = each.delivered();
      table.add(each.name(), delivered, delivered * Connection.MESSAGE / 1024, each.wrong());
      checks.expectAtLeast("messages of " + each.name(), ENOUGH_MESSAGES, delivered);
    }
    table.print(out);
    out.println("   so far, after " + millis + " ms; the traffic goes on.");
  }

  /** Lets the traffic run for its time, and longer where a busy machine has not carried enough by then. */
  private long letRun() throws InterruptedException {
    long start = System.nanoTime();
    Thread.sleep(trafficMillis);
    long passed = (System.nanoTime() - start) / NANOS_PER_MILLI;
    while (passed < trafficMillis + PATIENCE_MILLIS
        && connections.stream().anyMatch(each -> each.delivered() < ENOUGH_MESSAGES && each.problem() == null)) {
      Thread.sleep(LOOK_MILLIS);
      passed = (System.nanoTime() - start) / NANOS_PER_MILLI;
    }
    return passed;
  }

  private void unplug() throws CommandException, InterruptedException {
    heading("The provider bundle is stopped under this load");
    names.forEach(name -> sleepers.add(new Sleeper(device(name))));
    watcher.clear();
    long start = System.nanoTime();
    stop();
    out.printf("   bundle %s is stopped, %d ms.%n", provider.name(), (System.nanoTime() - start) / NANOS_PER_MILLI);
    books();
    told();
    leftBehind();
    connections.forEach(Connection::close);
    connections.clear();
    sleepers.forEach(Sleeper::close);
    sleepers.clear();
  }

  private void stop() throws CommandException, InterruptedException {
    List<Exception> failures = new ArrayList<>();
    Thread stopping =
        Thread.ofPlatform()
            .name("demo stops " + provider.name())
            .daemon()
            .start(
                () -> {
                  try {
                    provider.stop();
                  } catch (BundleException | RuntimeException e) {
                    failures.add(e);
                  }
                });
    stopping.join(PATIENCE_MILLIS * 2);
    if (stopping.isAlive()) {
      throw new CommandException("demo: " + provider.name() + " does not stop");
    }
    if (!failures.isEmpty()) {
      throw new CommandException("demo: " + provider.name() + " does not stop", failures.getFirst());
    }
  }

  /** Every work request of every queue, and what became of it. */
  private void books() throws InterruptedException {
    Table table =
        new Table("queue", "posted", "succeeded", "flushed", "peer gone", "missing", "doubled", "wrong bytes");
    Ledger total = new Ledger();
    long wrong = 0;
    for (Connection each : connections) {
      checks.expect("end of traffic on " + each.name(), true, each.join());
      checks.expect("trouble on " + each.name(), null, each.problem());
      book(table, each.name() + (each.isWrite() ? "" : ", sends"), each.sends(), each.wrong(), total);
      wrong += each.wrong();
      if (!each.isWrite()) {
        book(table, each.name() + ", receives", each.receives(), each.wrong(), total);
        // An acknowledged SEND was received before it was acknowledged.
        checks.expectAtLeast(
            "receives of " + each.name(), each.sends().succeeded(), each.receives().succeeded());
      }
    }
    table.add("all", total.posted(), total.succeeded(), total.flushed(), total.peerGone(), total.missing(),
        total.doubled(), wrong);
    table.print(out);
  }

  private void book(Table table, String name, Ledger ledger, long wrong, Ledger total) {
    table.add(name, ledger.posted(), ledger.succeeded(), ledger.flushed(), ledger.peerGone(), ledger.missing(),
        ledger.doubled(), wrong);
    total.add(ledger);
    checks.expect("missing completions of " + name, 0, ledger.missing());
    checks.expect("doubled completions of " + name, 0L, ledger.doubled());
    checks.expect("other failures of " + name, 0L, ledger.failed());
    checks.expect("wrong messages of " + name, 0L, wrong);
    checks.expect(
        "sum of " + name, (long) ledger.posted(), ledger.succeeded() + ledger.flushed() + ledger.peerGone());
  }

  /** What the consumers were told. */
  private void told() throws InterruptedException {
    out.println("   What else the consumers saw:");
    int ends = 0;
    for (Connection each : connections) {
      for (End end : List.of(each.from(), each.to())) {
        checks.expect("DEVICE_FATAL at " + each.name(), 1, fatalEvents(end));
        String refusal = end.refusal();
        checks.expect("call on " + end.deviceName() + " after removal", true, refusal != null);
        ends++;
      }
    }
    out.printf("   - %d contexts: the event DEVICE_FATAL, once each%n", ends);
    out.printf("   - a later call: %s%n", connections.getFirst().from().refusal());
    for (Sleeper each : sleepers) {
      String end = each.end();
      checks.expect("end of a wait", true, end != null && end.startsWith("EIO"));
      out.printf("   - a thread that waited for a completion: %s%n", end);
    }
    for (String name : names) {
      List<String> order = watcher.order(false, name);
      checks.expect("clients told that " + name + " goes", Watcher.CLIENTS.reversed(), order);
      out.printf("   - clients told that %s goes, in this order: %s%n", name, String.join(", ", order));
    }
  }

  /** The event comes on a thread of the core, maybe a moment later. */
  private static int fatalEvents(End end) throws InterruptedException {
    long deadline = System.nanoTime() + PATIENCE_MILLIS * NANOS_PER_MILLI;
    while (end.events(AsyncEventType.DEVICE_FATAL) == 0 && System.nanoTime() < deadline) {
      TimeUnit.MILLISECONDS.sleep(1);
    }
    return end.events(AsyncEventType.DEVICE_FATAL);
  }

  private void leftBehind() {
    long devices = present().stream().map(RdmaDevice::name).filter(names::contains).count();
    List<String> threads = provider.threads(names);
    int sockets = Provider.sockets(addresses);
    checks.expect("devices after the stop", 0L, devices);
    checks.expect("services after the stop", 0, provider.services());
    checks.expect("threads after the stop", List.of(), threads);
    if (sockets >= 0) {
      checks.expect("sockets after the stop", 0, sockets);
    }
    out.printf(
        "   What is left of the devices: %d devices, %d services, %d threads, %s sockets%n",
        devices, provider.services(), threads.size(), sockets < 0 ? "(not told)" : Integer.toString(sockets));
  }

  private void plugIn() throws CommandException, InterruptedException {
    heading("Plugged in again");
    watcher.clear();
    long start = System.nanoTime();
    try {
      provider.start();
    } catch (BundleException e) {
      throw new CommandException("demo: " + provider.name() + " does not start", e);
    }
    for (String name : names) {
      checks.expect("clients told of " + name + " again", Watcher.CLIENTS, watcher.order(true, name));
    }
    List<String> back = present().stream().map(RdmaDevice::name).filter(names::contains).toList();
    checks.expect("devices that came back", names, back);
    out.printf(
        "   bundle %s is started: %s, under the same names, after %d ms.%n",
        provider.name(), String.join(" and ", back), (System.nanoTime() - start) / NANOS_PER_MILLI);
  }

  private void finish() throws InterruptedException {
    heading("The traffic ends in order, and everything is given back");
    connections.forEach(Connection::stop);
    books();
    connections.forEach(Connection::close);
    connections.clear();
    watcher.stop();
    Table table = new Table("objects left", "ctx", "pd", "cq", "qp", "mr");
    for (String name : names) {
      ResourceTable resources = device(name).resources();
      long contexts = resources.contexts().stream().filter(each -> isOurs(each.owner())).count();
      long domains = resources.protectionDomains().stream().filter(each -> isOurs(each.owner())).count();
      long queues = resources.completionQueues().stream().filter(each -> isOurs(each.owner())).count();
      long pairs = resources.queuePairs().stream().filter(each -> isOurs(each.owner())).count();
      long regions = resources.memoryRegions().stream().filter(each -> isOurs(each.owner())).count();
      table.add(name, contexts, domains, queues, pairs, regions);
      checks.expect("objects left on " + name, 0L, contexts + domains + queues + pairs + regions);
    }
    table.print(out);
  }

  private static boolean isOurs(ResourceTable.Owner owner) {
    return owner.comm().startsWith(DemoCommand.NAME);
  }

  /** The devices of the first driver that has two, or none. */
  private static List<RdmaDevice> ofOneDriver(List<RdmaDevice> all) {
    for (RdmaDevice each : all) {
      List<RdmaDevice> alike = all.stream().filter(other -> other.driver().equals(each.driver())).toList();
      if (alike.size() > 1) {
        return alike;
      }
    }
    return List.of();
  }

  private List<RdmaDevice> present() {
    return tracker.getTracked().values().stream().sorted(Comparator.comparing(RdmaDevice::name)).toList();
  }

  private RdmaDevice device(String name) {
    return present().stream()
        .filter(device -> device.name().equals(name))
        .findFirst()
        .orElseThrow(() -> new IllegalStateException("demo: " + name + " is not there"));
  }

  private void heading(String text) {
    step++;
    out.println();
    out.println(step + ". " + text);
    out.flush();
  }

  @Override
  public void close() {
    connections.forEach(Connection::close);
    sleepers.forEach(Sleeper::close);
    watcher.stop();
    tracker.close();
  }
}
