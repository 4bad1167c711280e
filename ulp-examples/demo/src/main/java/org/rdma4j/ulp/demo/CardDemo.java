package org.rdma4j.ulp.demo;

import java.util.List;
import java.util.function.Function;
import org.rdma4j.ib.core.verbs.RdmaDevice;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.ulp.command.CommandException;

/** The second half: traffic with a card, which is pulled out of its slot under it and put back. */
final class CardDemo implements AutoCloseable {
  /** What a person types. */
  @FunctionalInterface
  interface Shell {
    void run(String command) throws CommandException, InterruptedException;
  }

  private static final long NANOS_PER_MILLI = 1_000_000;

  private final Stage stage;
  private final Checks checks;
  private final Watcher watcher;
  private final Function<String, RdmaDevice> devices;
  private final Shell shell;
  private final String other;
  private final String card;
  private final String slot;
  private final String netdev;
  private final Gid address;
  private Load load;
  private Sleeper sleeper;

  /**
   * Takes the parts.
   *
   * @param devices finds a device by its name, or null
   * @param other name of a device that stays
   * @param card the card's device
   * @param slot where the card is
   */
  CardDemo(
      Stage stage,
      Checks checks,
      Watcher watcher,
      Function<String, RdmaDevice> devices,
      Shell shell,
      String other,
      RdmaDevice card,
      String slot) {
    this.stage = stage;
    this.checks = checks;
    this.watcher = watcher;
    this.devices = devices;
    this.shell = shell;
    this.other = other;
    this.card = card.name();
    this.slot = slot;
    this.netdev = card.netdev(1);
    this.address = card.gidTable(1).entries().getFirst().gid();
  }

  void run(int trafficMillis) throws CommandException, InterruptedException {
    stage.heading("A card in slot " + slot + ", and traffic between " + other + " and " + card);
    load = new Load(stage, checks, devices.apply(other), devices.apply(card));
    load.run(trafficMillis);
    pull();
    plug();
    stage.heading("The traffic with the card again, and its end in order");
    load = new Load(stage, checks, devices.apply(other), devices.apply(card));
    load.run(trafficMillis);
    load.stop();
    load.books();
    load.close();
  }

  private void pull() throws CommandException, InterruptedException {
    String command = "mlx5 pull " + slot;
    stage.heading("The card is pulled out under this load: " + command);
    sleeper = new Sleeper(devices.apply(card));
    watcher.clear();
    long start = System.nanoTime();
    shell.run(command);
    stage.say("the slot is empty, %d ms.", (System.nanoTime() - start) / NANOS_PER_MILLI);
    load.books();
    load.told(List.of(card));
    String end = sleeper.end();
    checks.expect("end of a wait", true, end != null && end.startsWith("EIO"));
    stage.say("- a thread that waited for a completion: %s", end);
    checks.expect("clients told that " + card + " goes", Watcher.CLIENTS.reversed(), watcher.order(false, card));
    stage.say("- clients told that %s goes, in this order: %s", card, String.join(", ", watcher.order(false, card)));
    leftBehind();
    load.close();
    sleeper.close();
  }

  private void leftBehind() {
    boolean there = devices.apply(card) != null;
    List<String> threads =
        Thread.getAllStackTraces().keySet().stream().map(Thread::getName).filter(name -> name.contains(slot)).toList();
    int sockets = Provider.sockets(List.of(address));
    checks.expect("the device after the pull", false, there);
    checks.expect("threads of the card after the pull", List.of(), threads);
    if (sockets >= 0) {
      checks.expect("sockets of the card after the pull", 0, sockets);
    }
    checks.expect(other + " after the pull", true, devices.apply(other) != null);
    stage.say(
        "What is left of the card: %d devices, %d threads, %s sockets; %s has not noticed",
        there ? 1 : 0, threads.size(), sockets < 0 ? "(not told)" : Integer.toString(sockets), other);
  }

  private void plug() throws CommandException, InterruptedException {
    String command =
        "mlx5 plug slot " + slot + " netdev " + netdev + " addr " + address.toInetAddress().getHostAddress();
    stage.heading("A card is put into the slot again: " + command);
    watcher.clear();
    long start = System.nanoTime();
    shell.run(command);
    checks.expect("clients told of " + card + " again", Watcher.CLIENTS, watcher.order(true, card));
    boolean back = devices.apply(card) != null;
    checks.expect(card + " after the card was put back", true, back);
    if (!back) {
      throw new CommandException("demo: " + card + " does not come back");
    }
    stage.say(
        "%s is back under its name, after %d ms.", card, (System.nanoTime() - start) / NANOS_PER_MILLI);
  }

  @Override
  public void close() {
    if (load != null) {
      load.close();
    }
    if (sleeper != null) {
      sleeper.close();
    }
  }
}
