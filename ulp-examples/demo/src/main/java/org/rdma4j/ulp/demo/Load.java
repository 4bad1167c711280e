package org.rdma4j.ulp.demo;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.rdma4j.ib.core.verbs.AsyncEventType;
import org.rdma4j.ib.core.verbs.RdmaDevice;

/** Four connections between two devices, SEND and WRITE both ways: their numbers, their books, and their checks. */
final class Load implements AutoCloseable {
  private static final long PATIENCE_MILLIS = 10_000;
  private static final long LOOK_MILLIS = 20;
  private static final int ENOUGH_MESSAGES = 10;
  private static final long NANOS_PER_MILLI = 1_000_000;

  private final Stage stage;
  private final Checks checks;
  private final List<Connection> connections = new ArrayList<>();

  /** Starts the connections. */
  Load(Stage stage, Checks checks, RdmaDevice one, RdmaDevice two) {
    this.stage = stage;
    this.checks = checks;
    connections.add(new Connection(one, two, false));
    connections.add(new Connection(two, one, false));
    connections.add(new Connection(one, two, true));
    connections.add(new Connection(two, one, true));
    connections.forEach(Connection::start);
  }

  /** Lets them run a while, and shows what they did. */
  void run(int trafficMillis) throws InterruptedException {
    long millis = letRun(trafficMillis);
    Table table = new Table("reliable connection", "messages", "KiB", "messages with wrong bytes");
    for (Connection each : connections) {
      long delivered = each.delivered();
      table.add(each.name(), delivered, delivered * Connection.MESSAGE / 1024, each.wrong());
      checks.expectAtLeast("messages of " + each.name(), ENOUGH_MESSAGES, delivered);
    }
    stage.show(table);
    stage.say("so far, after %d ms; the traffic goes on.", millis);
  }

  /** For its time, and longer where a busy machine has not carried enough by then. */
  private long letRun(int trafficMillis) throws InterruptedException {
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

  /** Asks the traffic to end in order. */
  void stop() {
    connections.forEach(Connection::stop);
  }

  /** Waits for the end, and shows every work request of every queue, and what became of it. */
  void books() throws InterruptedException {
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
    stage.show(table);
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

  /** What the contexts on devices that went were told; contexts on others were told nothing of the kind. */
  void told(List<String> gone) throws InterruptedException {
    int ends = 0;
    String said = null;
    for (Connection each : connections) {
      for (End end : List.of(each.from(), each.to())) {
        boolean went = gone.contains(end.deviceName());
        checks.expect(
            "DEVICE_FATAL on " + end.deviceName() + " at " + each.name(), went ? 1 : 0, fatalEvents(end, went));
        String refusal = end.refusal();
        checks.expect("refusal of a later call on " + end.deviceName(), went, refusal != null);
        ends += went ? 1 : 0;
        said = went ? refusal : said;
      }
    }
    stage.say("What else the consumers saw:");
    stage.say("- %d contexts: the event DEVICE_FATAL, once each", ends);
    stage.say("- a later call: %s", said);
  }

  /** The event comes on a thread of the core, maybe a moment later. */
  private static int fatalEvents(End end, boolean wanted) throws InterruptedException {
    long deadline = System.nanoTime() + PATIENCE_MILLIS * NANOS_PER_MILLI;
    while (wanted && end.events(AsyncEventType.DEVICE_FATAL) == 0 && System.nanoTime() < deadline) {
      TimeUnit.MILLISECONDS.sleep(1);
    }
    return end.events(AsyncEventType.DEVICE_FATAL);
  }

  @Override
  public void close() {
    connections.forEach(Connection::close);
    connections.clear();
  }
}
