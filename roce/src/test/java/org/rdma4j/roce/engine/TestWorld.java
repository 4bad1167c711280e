package org.rdma4j.roce.engine;

import java.util.List;
import java.util.function.Consumer;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.link.Fabric;
import org.rdma4j.roce.link.VirtualClock;
import org.rdma4j.roce.simulation.Trace;

/** Two ports on one fabric under virtual time, driven by whoever calls {@link #run}. */
final class TestWorld implements AutoCloseable {
  static final int PORT_MTU = 4096;
  private static final int MAX_STEPS = 2_000_000;

  final VirtualClock clock = new VirtualClock();
  final Trace trace = new Trace(clock, 60);
  final Fabric fabric;
  final TestPort a;
  final TestPort b;
  private final List<TestPort> ports;

  TestWorld() {
    this(1, EngineConfig.ofPortMtu(PORT_MTU), Gid.parse("::ffff:192.0.2.1"), Gid.parse("::ffff:192.0.2.2"));
  }

  TestWorld(long seed, EngineConfig config, Gid gidA, Gid gidB) {
    fabric = new Fabric(seed, clock);
    a = new TestPort("a", fabric, clock, trace, config, gidA, 0x11);
    b = new TestPort("b", fabric, clock, trace, config, gidB, 0x21);
    ports = List.of(a, b);
  }

  /** Runs until nothing happens any more and no timer runs. */
  void run() {
    runUntil(Long.MAX_VALUE);
  }

  /** Runs for so long; the clock shows the end of that time afterwards. */
  void runFor(long nanos) {
    long end = clock.nanoTime() + nanos;
    runUntil(end);
    clock.advanceTo(end);
  }

  /** Works off everything that needs no time to pass. */
  void settle() {
    runUntil(clock.nanoTime());
  }

  private void runUntil(long end) {
    for (int step = 0; step < MAX_STEPS; step++) {
      if (work() > 0) {
        continue;
      }
      long next = nextEvent();
      if (next == Long.MAX_VALUE || next > end) {
        return;
      }
      clock.advanceTo(Math.max(next, clock.nanoTime()));
    }
    throw new AssertionError("no end after " + MAX_STEPS + " steps\n" + trace);
  }

  int work() {
    int work = 0;
    for (TestPort port : ports) {
      work += port.engine.doWork();
    }
    return work;
  }

  long nextEvent() {
    long next = fabric.nextEventTime();
    for (TestPort port : ports) {
      next = Math.min(next, port.engine.nextDeadline());
    }
    return next;
  }

  /** Usual settings of a test: everything permitted, 262 us timeout, retries for ever but few. */
  static void usual(QpSettings settings) {
    settings.access = TestMemory.ALL;
    settings.mtu = 1024;
    settings.timeout = 6;
    settings.retryCount = 5;
    settings.rnrRetry = 7;
    settings.minRnrTimer = 1;
    settings.maxReadAtomic = 4;
    settings.maxDestinationReadAtomic = 4;
    settings.receivePsn = 0;
    settings.sendPsn = 0;
    settings.qkey = 0x1234;
  }

  /** Makes two queue pairs and connects them up to RTS. */
  TestQp[] pair(QpKind kind, Consumer<QpSettings> change) {
    TestQp[] pair = {a.queuePair(kind), b.queuePair(kind)};
    connect(pair[0], pair[1], change);
    return pair;
  }

  TestQp[] pair(QpKind kind) {
    return pair(kind, settings -> {});
  }

  void connect(TestQp one, TestQp other, Consumer<QpSettings> change) {
    prepare(one, other, change);
    prepare(other, one, change);
    for (TransportState state : List.of(TransportState.INIT, TransportState.RTR, TransportState.RTS)) {
      one.modify(state);
      other.modify(state);
    }
  }

  void prepare(TestQp qp, TestQp peer, Consumer<QpSettings> change) {
    QpSettings settings = qp.context.settings();
    usual(settings);
    settings.destinationQp = peer.number();
    settings.route = qp.context.kind().isConnected() ? qp.port.routeTo(peer.port) : null;
    change.accept(settings);
  }

  /** What must hold after every test, whatever happened in it. */
  void checkQuiet() {
    for (TestPort port : ports) {
      if (!port.faults.isEmpty()) {
        throw new AssertionError("the engine met " + port.faults.getFirst() + "\n" + trace, port.faults.getFirst());
      }
      if (port.link.isClaimOpen()) {
        throw new AssertionError("a packet was claimed and forgotten");
      }
    }
  }

  @Override
  public void close() {
    ports.forEach(port -> port.link.close());
  }
}
