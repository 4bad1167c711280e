package org.rdma4j.ulp.demo;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.osgi.framework.BundleContext;
import org.osgi.framework.BundleException;
import org.osgi.framework.ServiceReference;
import org.osgi.util.tracker.ServiceTracker;
import org.rdma4j.ib.core.verbs.GidEntry;
import org.rdma4j.ib.core.verbs.RdmaDevice;
import org.rdma4j.ib.core.verbs.ResourceTable;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.ulp.command.CommandException;

/** The steps of the demonstration, each with its heading, its numbers and its checks. */
final class Demo implements AutoCloseable {
  private static final long PATIENCE_MILLIS = 10_000;
  private static final long NANOS_PER_MILLI = 1_000_000;

  private final int trafficMillis;
  private final Checks checks;
  private final Stage stage;
  private final CardDemo.Shell shell;
  private final BundleContext bundle;
  private final ServiceTracker<RdmaDevice, RdmaDevice> tracker;
  private final Watcher watcher = new Watcher();
  private final List<Sleeper> sleepers = new ArrayList<>();
  private final List<Gid> addresses = new ArrayList<>();
  private List<String> names = List.of();
  private Provider provider;
  private Load load;
  private CardDemo cards;

  Demo(BundleContext bundle, int trafficMillis, Checks checks, Stage stage, CardDemo.Shell shell) {
    this.bundle = bundle;
    this.trafficMillis = trafficMillis;
    this.checks = checks;
    this.stage = stage;
    this.shell = shell;
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
      card();
      left();
    } catch (VerbsException e) {
      throw new CommandException("demo: " + e.errno(), e);
    }
  }

  private void devices() throws CommandException, InterruptedException {
    stage.heading("Two devices, and the bundle that provides them");
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
    stage.show(table);
    watcher.start(bundle);
    for (String name : names) {
      checks.expect("clients told of " + name, Watcher.CLIENTS, watcher.order(true, name));
    }
    stage.say("2 clients watch them: each was told of both, in order of registration.");
  }

  private void traffic(String title) throws InterruptedException {
    stage.heading(title);
    load = new Load(stage, checks, device(names.getFirst()), device(names.getLast()));
    load.run(trafficMillis);
  }

  private void unplug() throws CommandException, InterruptedException {
    stage.heading("The provider bundle is stopped under this load");
    names.forEach(name -> sleepers.add(new Sleeper(device(name))));
    watcher.clear();
    long start = System.nanoTime();
    stop();
    stage.say("bundle %s is stopped, %d ms.", provider.name(), (System.nanoTime() - start) / NANOS_PER_MILLI);
    load.books();
    load.told(names);
    told();
    leftBehind();
    load.close();
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

  /** What waiting threads and clients were told. */
  private void told() throws InterruptedException {
    for (Sleeper each : sleepers) {
      String end = each.end();
      checks.expect("end of a wait", true, end != null && end.startsWith("EIO"));
      stage.say("- a thread that waited for a completion: %s", end);
    }
    for (String name : names) {
      List<String> order = watcher.order(false, name);
      checks.expect("clients told that " + name + " goes", Watcher.CLIENTS.reversed(), order);
      stage.say("- clients told that %s goes, in this order: %s", name, String.join(", ", order));
    }
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
    stage.say(
        "What is left of the devices: %d devices, %d services, %d threads, %s sockets",
        devices, provider.services(), threads.size(), sockets < 0 ? "(not told)" : Integer.toString(sockets));
  }

  private void plugIn() throws CommandException, InterruptedException {
    stage.heading("Plugged in again");
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
    stage.say(
        "bundle %s is started: %s, under the same names, after %d ms.",
        provider.name(), String.join(" and ", back), (System.nanoTime() - start) / NANOS_PER_MILLI);
  }

  private void finish() throws InterruptedException {
    stage.heading("The traffic ends in order");
    load.stop();
    load.books();
    load.close();
  }

  /** Goes on with a card, where there is one. */
  private void card() throws CommandException, InterruptedException {
    for (ServiceReference<RdmaDevice> each : tracker.getTracked().keySet()) {
      if (each.getProperty(RdmaDevice.PROPERTY_PARENT) instanceof String slot) {
        RdmaDevice device = tracker.getService(each);
        cards =
            new CardDemo(stage, checks, watcher, this::find, shell, names.getFirst(), device, slot);
        cards.run(trafficMillis);
        return;
      }
    }
    stage.heading("There is no card to go on with");
  }

  private void left() {
    stage.heading("Everything is given back");
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
    stage.show(table);
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
    RdmaDevice found = find(name);
    if (found == null) {
      throw new IllegalStateException("demo: " + name + " is not there");
    }
    return found;
  }

  private RdmaDevice find(String name) {
    return present().stream().filter(device -> device.name().equals(name)).findFirst().orElse(null);
  }

  @Override
  public void close() {
    if (load != null) {
      load.close();
    }
    if (cards != null) {
      cards.close();
    }
    sleepers.forEach(Sleeper::close);
    watcher.stop();
    tracker.close();
  }
}
