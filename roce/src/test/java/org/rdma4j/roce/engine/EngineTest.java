package org.rdma4j.roce.engine;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.rdma4j.roce.packet.Bth;
import org.rdma4j.roce.packet.Opcode;
import org.rdma4j.roce.packet.OpcodeFlag;

/** Two ports, and what tests of the engine say about them again and again. */
abstract class EngineTest {
  final TestWorld world = new TestWorld();
  final TestPort a = world.a;
  final TestPort b = world.b;

  @AfterEach
  final void nothingWentWrongInTheEngines() {
    try (world) {
      world.checkQuiet();
    }
  }

  /** Fills memory with bytes that depend on the salt and repeat nowhere near. */
  static void fill(TestMemory memory, int salt) {
    MemorySegment segment = memory.segment;
    for (long i = 0; i < segment.byteSize(); i++) {
      segment.set(JAVA_BYTE, i, (byte) (i * 31 + (i >> 8) * 7 + salt));
    }
  }

  static void assertSame(TestMemory expected, long expectedAt, TestMemory actual, long actualAt, long length) {
    long different =
        MemorySegment.mismatch(
            expected.segment, expectedAt, expectedAt + length, actual.segment, actualAt, actualAt + length);
    assertEquals(-1, different, "first different byte");
  }

  static void assertUntouched(TestMemory memory, long from, long to) {
    for (long i = from; i < to; i++) {
      assertEquals(0, memory.segment.get(JAVA_BYTE, i), "byte " + i);
    }
  }

  static long word(TestMemory memory, long offset) {
    return memory.segment.get(JAVA_LONG, offset);
  }

  static void word(TestMemory memory, long offset, long value) {
    memory.segment.set(JAVA_LONG, offset, value);
  }

  final void assertDone(List<Done> completions, long... ids) {
    assertEquals(
        Arrays.stream(ids).boxed().toList(),
        completions.stream().map(Done::id).toList(),
        () -> "identifiers of completions; " + completions + "\n" + world.trace);
    for (Done done : completions) {
      assertEquals(CompletionStatus.SUCCESS, done.status(), () -> done + "\n" + world.trace);
    }
  }

  final void assertFailed(Done done, long id, CompletionStatus status, FailedCheck check) {
    assertEquals(id, done.id(), () -> done + "\n" + world.trace);
    assertEquals(status, done.status(), () -> done + "\n" + world.trace);
    assertEquals(check, done.check(), () -> done + "\n" + world.trace);
  }

  final void assertFlushed(List<Done> completions, int from, long... ids) {
    List<Long> got = new ArrayList<>();
    for (Done done : completions.subList(from, completions.size())) {
      assertEquals(CompletionStatus.FLUSHED, done.status(), () -> done + "\n" + world.trace);
      assertEquals(FailedCheck.FLUSH, done.check());
      got.add(done.id());
    }
    assertEquals(Arrays.stream(ids).boxed().toList(), got, () -> "flushed\n" + world.trace);
  }

  static void assertState(TransportState expected, TestQp qp) {
    assertEquals(expected, qp.context.state());
  }

  /** No timer runs and nothing is outstanding. */
  final void assertIdle() {
    assertEquals(Long.MAX_VALUE, world.nextEvent(), "something is still to happen");
    for (TestPort port : List.of(a, b)) {
      assertTrue(!port.engine.hasReady(), "ready");
      for (TestQp qp : port.queuePairs) {
        assertEquals(qp.posted.size(), qp.released, "released send slots");
      }
    }
  }

  /** Drops the n-th (from 0) of the packets that leave the port and that match. */
  static TestLink.Filter drop(int nth, TestLink.Filter matching) {
    int[] seen = {0};
    return (packet, at, length) ->
        matching.fate(packet, at, length) != TestLink.Fate.PASS && seen[0]++ == nth
            ? TestLink.Fate.DROP
            : TestLink.Fate.PASS;
  }

  static TestLink.Filter requests() {
    return (packet, at, length) ->
        (Opcode.flags(Bth.opcode(packet, at)) & OpcodeFlag.REQUEST) != 0 ? TestLink.Fate.DROP : TestLink.Fate.PASS;
  }

  static TestLink.Filter responses() {
    return (packet, at, length) ->
        (Opcode.flags(Bth.opcode(packet, at)) & OpcodeFlag.RESPONSE) != 0 ? TestLink.Fate.DROP : TestLink.Fate.PASS;
  }

  static TestLink.Filter opcode(int opcode) {
    return (packet, at, length) ->
        Bth.opcode(packet, at) == opcode ? TestLink.Fate.DROP : TestLink.Fate.PASS;
  }

  static TestLink.Filter everything() {
    return (packet, at, length) -> TestLink.Fate.DROP;
  }

  static TestLink.Filter hold(TestLink.Filter matching) {
    return (packet, at, length) ->
        matching.fate(packet, at, length) == TestLink.Fate.DROP ? TestLink.Fate.HOLD : TestLink.Fate.PASS;
  }

  /** Posts so many receives of a length, one behind the other in the memory, with identifiers from 100 on. */
  static void receives(TestQp qp, int count, TestMemory memory, int length) {
    for (int i = 0; i < count; i++) {
      qp.receives.post(100 + i, memory, (long) i * length, length);
    }
  }
}
