package org.rdma4j.roce.engine;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.rdma4j.roce.link.ReceivedPacket;
import org.rdma4j.roce.link.Route;

/**
 * A peer that sends what no peer should, and what holds after each test: nothing but the memory it may write has
 * changed, no exception has left the engine, nothing remains in its tables, and the engine goes on.
 */
abstract class HostileTest extends EngineTest {
  private static final byte CANARY = 0x3c;
  static final int REGION = 4096;
  static final int QKEY = 0x1234;

  private final MemorySegment around = Arena.ofAuto().allocate(3 * REGION, 8).fill(CANARY);
  final TestMemory region =
      b.register(around.asSlice(REGION, REGION).fill((byte) 0), TestPort.PD, TestMemory.ALL);
  final TestMemory readOnly =
      b.register(Arena.ofAuto().allocate(REGION, 8).fill(CANARY), TestPort.PD, TestMemory.REMOTE_READ);
  final TestMemory foreign =
      b.register(Arena.ofAuto().allocate(REGION, 8).fill(CANARY), 2, TestMemory.ALL);
  final TestMemory source = a.memory(REGION);
  final Route route = a.routeTo(b);
  private final MemorySegment packet = Arena.ofAuto().allocate(8192, 8);
  private final ReceivedPacket received = new ReceivedPacket();

  @AfterEach
  void memoryAroundIsUntouchedAndTheEngineGoesOn() {
    assertCanary(around.asSlice(0, REGION));
    assertCanary(around.asSlice(2 * REGION, REGION));
    assertCanary(readOnly.segment);
    assertCanary(foreign.segment);
    assertEquals(0, b.count(EngineCounter.FAULTS), () -> b.faults + "\n" + world.trace);
    assertEquals(0, a.count(EngineCounter.FAULTS), () -> a.faults + "\n" + world.trace);
    for (TestPort port : List.of(a, b)) {
      assertEquals(port.queuePairs.size(), port.engine.queuePairs(), "queue pairs in the engine");
      port.link.filter(null);
    }
    TestQp[] qp = world.pair(QpKind.RC);
    fill(source, 9);
    qp[0].post(Post.write(1, region, 0).local(source, 0, 3000), Post.read(2, region, 0).local(source, 0, 3000));
    world.runFor(10_000_000);
    assertDone(qp[0].sends, 1, 2);
    assertSame(source, 0, region, 0, 3000);
  }

  private static void assertCanary(MemorySegment segment) {
    for (long i = 0; i < segment.byteSize(); i++) {
      assertEquals(CANARY, segment.get(JAVA_BYTE, i), "canary " + i);
    }
  }

  /** One queue pair of the kind at b, whose peer at a has a queue pair that does nothing by itself. */
  final TestQp victim(QpKind kind) {
    return victim(kind, TransportState.RTS);
  }

  final TestQp victim(QpKind kind, TransportState state) {
    TestQp[] qp = world.pair(kind, settings -> settings.mtu = 256);
    for (int i = 0; i < 4; i++) {
      qp[1].receives.post(i, region, 0, 1024);
    }
    switch (state) {
      case RESET -> qp[1].modify(TransportState.RESET);
      case INIT -> {
        qp[1].modify(TransportState.RESET);
        qp[1].modify(TransportState.INIT);
      }
      case RTR -> {
        qp[1].modify(TransportState.RESET);
        qp[1].modify(TransportState.INIT);
        qp[1].modify(TransportState.RTR);
      }
      case SQD, SQE, ERR -> qp[1].modify(state);
      default -> { }
    }
    a.engine.destroy(qp[0].context);
    a.queuePairs.remove(qp[0]);
    return qp[1];
  }

  /** Forgets a queue pair; what it has posted was completed once, or was not completed yet. */
  final void retire(TestQp qp) {
    assertEquals(qp.released, qp.sends.stream().map(Done::id).distinct().count(), () -> "completed " + qp.sends);
    assertEquals(qp.sends.size(), qp.released, () -> "completed twice " + qp.sends);
    qp.port.engine.destroy(qp.context);
    qp.port.queuePairs.remove(qp);
  }

  /** Hands a packet to a port as it is, in memory of just its length. */
  final void deliver(TestPort from, TestPort to, byte[] bytes, int length) {
    MemorySegment exact = packet.asSlice(packet.byteSize() - length);
    MemorySegment.copy(bytes, 0, exact, JAVA_BYTE, 0, length);
    to.link.deliver(
        received
            .wrap(exact, 0, length)
            .source(from.gid.hi(), from.gid.lo())
            .destination(to.gid.hi(), to.gid.lo())
            .ip(0, 64, ReceivedPacket.UNKNOWN, 0));
    world.settle();
  }

  final void inject(byte[] packet) {
    a.link.inject(route, packet);
    world.settle();
  }
}
