package org.rdma4j.roce.engine;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.rdma4j.roce.packet.Feth;
import org.rdma4j.roce.packet.Opcode;
import org.rdma4j.roce.packet.Syndrome;

/** Atomic writes and flushes (IBA annex A19), by their bytes, their effects and what is refused of them. */
class MemoryPlacementTest extends EngineTest {
  private static final int GLOBAL = Feth.GLOBAL;
  private static final int PERSISTENT = Feth.PERSISTENT;

  private final TestMemory source = a.memory(4096);
  private final TestMemory target = b.memory(4096);
  private final List<String> sent = new ArrayList<>();
  private final List<String> answered = new ArrayList<>();

  private void record() {
    a.link.filter((packet, at, length) -> keep(sent, packet, at, length));
    b.link.filter((packet, at, length) -> keep(answered, packet, at, length));
  }

  private static TestLink.Fate keep(List<String> into, MemorySegment packet, long at, int length) {
    into.add(HexFormat.of().formatHex(packet.asSlice(at, length).toArray(JAVA_BYTE)));
    return TestLink.Fate.PASS;
  }

  private static String hex(long value, int digits) {
    return HexFormat.of().toHexDigits(value, digits);
  }

  private static MemorySegment eight(int first) {
    byte[] bytes = new byte[8];
    for (int i = 0; i < 8; i++) {
      bytes[i] = (byte) (first + i);
    }
    return MemorySegment.ofArray(bytes);
  }

  @Test
  void anAtomicWriteByItsBytes() {
    TestQp[] qp = world.pair(QpKind.RC);
    record();
    qp[0].post(Post.atomicWrite(1, target, 64).inline(eight(1)));
    world.run();
    assertDone(qp[0].sends, 1);
    assertEquals(9, qp[0].sends.getFirst().opcode(), "IBV_WC_ATOMIC_WRITE");
    assertEquals(8, qp[0].sends.getFirst().byteLength());
    assertEquals(-1, target.segment.asSlice(64, 8).mismatch(eight(1)), "as they lay in memory");
    String qpn = hex(qp[1].number(), 8);
    String reth = hex(target.address(64), 16) + hex(target.key(), 8) + "00000008";
    assertEquals(List.of("1d00ffff" + qpn + "80000000" + reth + "0102030405060708"), sent);
    assertEquals(
        List.of("1000ffff" + hex(qp[0].number(), 8) + "00000000" + "1f000001"), answered,
        "a READ response without data");
    assertIdle();
  }

  @Test
  void anAtomicWriteTakesItsBytesFromRegisteredMemoryToo() {
    TestQp[] qp = world.pair(QpKind.RC);
    word(source, 24, 0x1122334455667788L);
    qp[0].post(Post.atomicWrite(1, target, 8).local(source, 24, 4).local(source, 28, 4));
    world.run();
    assertDone(qp[0].sends, 1);
    assertEquals(0x1122334455667788L, word(target, 8));
    assertUntouched(target, 0, 8);
    assertUntouched(target, 16, 4096);
  }

  @Test
  void aFlushByItsBytes() {
    TestQp[] qp = world.pair(QpKind.RC);
    record();
    qp[0].post(
        Post.flush(1, target, 16, 512, GLOBAL),
        Post.flush(2, target, 0, 0, GLOBAL | PERSISTENT).selectivity(Feth.REGION));
    world.run();
    assertDone(qp[0].sends, 1, 2);
    assertEquals(8, qp[0].sends.getFirst().opcode(), "IBV_WC_FLUSH");
    String qpn = hex(qp[1].number(), 8);
    assertEquals(
        List.of(
            "1c00ffff" + qpn + "80000000" + "00000001" + hex(target.address(16), 16) + hex(target.key(), 8)
                + "00000200",
            "1c00ffff" + qpn + "80000001" + "00000013" + hex(target.address(0), 16) + hex(target.key(), 8)
                + "00000000"),
        sent);
    String peer = hex(qp[0].number(), 8);
    assertEquals(
        List.of("1000ffff" + peer + "00000000" + "1f000001", "1000ffff" + peer + "00000001" + "1f000002"), answered);
    assertEquals(List.of("0+4096"), target.persisted, "the second, the whole region");
    assertIdle();
  }

  @Test
  void whatWasWrittenBeforeIsThereWhenTheFlushIsAnswered() {
    TestQp[] qp = world.pair(QpKind.RC, settings -> settings.mtu = 256);
    fill(source, 3);
    qp[0].post(
        Post.write(1, target, 0).local(source, 0, 3000).unsignaled(),
        Post.flush(2, target, 0, 3000, PERSISTENT),
        Post.atomicWrite(3, target, 3200).inline(eight(1)));
    world.run();
    assertDone(qp[0].sends, 2, 3);
    assertEquals(List.of("0+3000"), target.persisted);
    assertSame(source, 0, target, 0, 3000);
    assertEquals(-1, target.segment.asSlice(3200, 8).mismatch(eight(1)));
  }

  @Test
  void noMoreAreOutstandingThanReadsAndAtomics() {
    TestQp[] qp = world.pair(QpKind.RC, settings -> settings.maxReadAtomic = 2);
    b.link.filter(hold(responses()));
    for (int i = 0; i < 6; i++) {
      qp[0].post(
          i % 2 == 0 ? Post.atomicWrite(i, target, 8L * i).inline(eight(i)) : Post.flush(i, target, 0, 8, GLOBAL));
    }
    world.settle();
    assertEquals(2, a.link.sent);
    b.link.filter(null);
    b.link.releaseHeld();
    world.run();
    assertDone(qp[0].sends, 0, 1, 2, 3, 4, 5);
    assertIdle();
  }

  @Test
  void aFenceWaitsForThem() {
    TestQp[] qp = world.pair(QpKind.RC);
    b.link.filter(hold(responses()));
    qp[0].post(
        Post.flush(1, target, 0, 8, GLOBAL), Post.write(2, target, 8).local(source, 0, 8).fence());
    world.settle();
    assertEquals(1, a.link.sent);
    b.link.filter(null);
    b.link.releaseHeld();
    world.run();
    assertDone(qp[0].sends, 1, 2);
  }

  @Test
  void aLostResponseIsServedFromWhatWasSaved() {
    TestQp[] qp = world.pair(QpKind.RC);
    b.link.filter(drop(0, responses()));
    qp[0].post(Post.atomicWrite(1, target, 0).inline(eight(1)));
    world.settle();
    word(target, 0, 777);
    world.run();
    assertDone(qp[0].sends, 1);
    assertEquals(777, word(target, 0), "executed once");
    assertEquals(1, b.count(EngineCounter.DUPLICATE_REQUEST));
    b.link.filter(drop(0, responses()));
    qp[0].post(Post.flush(2, target, 0, 8, PERSISTENT));
    world.run();
    assertDone(qp[0].sends, 1, 2);
    assertEquals(List.of("0+8"), target.persisted, "executed once");
    assertEquals(2, b.count(EngineCounter.DUPLICATE_REQUEST));
    assertIdle();
  }

  @Test
  void aLaterAcknowledgeMeansThatTheResponseIsLost() {
    TestQp[] qp = world.pair(QpKind.RC);
    b.link.filter(drop(0, responses()));
    qp[0].post(Post.flush(1, target, 0, 8, GLOBAL), Post.write(2, target, 64).local(source, 0, 8));
    world.settle();
    assertDone(qp[0].sends, 1, 2);
    assertEquals(0, qp[0].sendDoneAt, "no timer was needed");
  }

  /** The kernel's requester does not count flushes. */
  @Test
  void moreFlushesThanResponsesCanWaitAreAskedForAgain() {
    TestQp[] qp = world.pair(QpKind.RC, settings -> settings.maxDestinationReadAtomic = 2);
    qp[0].context.settings().maxReadAtomic = 64;
    for (int i = 0; i < 20; i++) {
      qp[0].post(Post.flush(i, target, i, 1, PERSISTENT));
    }
    world.run();
    assertEquals(20, qp[0].sends.size());
    assertTrue(qp[0].sends.stream().allMatch(done -> done.status() == CompletionStatus.SUCCESS), world.trace::toString);
    assertEquals(20, target.persisted.stream().distinct().count());
    assertEquals(20, target.persisted.size(), "each executed once");
    assertIdle();
  }

  private void refuses(Post bad, CompletionStatus status, FailedCheck check) {
    TestQp[] qp = world.pair(QpKind.RC);
    qp[1].context.settings().access = access;
    refuses(qp, bad, status, check);
  }

  private int access = TestMemory.ALL;

  private void refuses(TestQp[] qp, Post bad, CompletionStatus status, FailedCheck check) {
    qp[0].post(bad, Post.write(2, target, 0).local(source, 0, 8));
    world.run();
    assertFailed(qp[0].sends.getFirst(), 1, status, check);
    assertFlushed(qp[0].sends, 1, 2);
    assertUntouched(target, 0, 4096);
    assertEquals(List.of(), target.persisted);
    assertState(TransportState.ERR, qp[0]);
    assertIdle();
  }

  @Test
  void whatTheMemoryDoesNotAllow() {
    CompletionStatus denied = CompletionStatus.REMOTE_ACCESS_ERROR;
    FailedCheck nak = FailedCheck.NAK_REMOTE_ACCESS;
    TestMemory noWrite = b.register(target.segment, TestPort.PD, TestMemory.ALL & ~TestMemory.REMOTE_WRITE);
    refuses(Post.atomicWrite(1, noWrite, 0).inline(eight(1)), denied, nak);
    refuses(Post.atomicWrite(1, target, 4096).inline(eight(1)), denied, nak);
    refuses(Post.atomicWrite(1, target, 0).remote(target.address(0), target.key() ^ 1).inline(eight(1)), denied, nak);
    TestMemory noGlobal = b.register(target.segment, TestPort.PD, TestMemory.ALL & ~TestMemory.FLUSH_GLOBAL);
    refuses(Post.flush(1, noGlobal, 0, 8, GLOBAL), denied, nak);
    refuses(Post.flush(1, noGlobal, 0, 8, GLOBAL | PERSISTENT), denied, nak);
    TestMemory volatileOnly = b.register(target.segment, TestPort.PD, TestMemory.ALL & ~TestMemory.FLUSH_PERSISTENT);
    refuses(Post.flush(1, volatileOnly, 0, 8, PERSISTENT), denied, nak);
    refuses(Post.flush(1, target, 4089, 8, GLOBAL), denied, nak);
    refuses(Post.flush(1, target, 0, 8, GLOBAL).remote(target.address(0), 0x99), denied, nak);
    refuses(Post.flush(1, b.register(target.segment, 2, TestMemory.ALL), 0, 8, GLOBAL), denied, nak);
    TestMemory plain = b.memory(4096);
    plain.persistent = false;
    refuses(Post.flush(1, plain, 0, 8, PERSISTENT), denied, nak);
  }

  @Test
  void whatTheQueuePairDoesNotAllow() {
    CompletionStatus invalid = CompletionStatus.REMOTE_INVALID_REQUEST;
    FailedCheck nak = FailedCheck.NAK_INVALID_REQUEST;
    access = TestMemory.ALL & ~TestMemory.REMOTE_WRITE;
    refuses(Post.atomicWrite(1, target, 0).inline(eight(1)), invalid, nak);
    access = TestMemory.ALL & ~TestMemory.FLUSH_GLOBAL;
    refuses(Post.flush(1, target, 0, 8, GLOBAL), invalid, nak);
    access = TestMemory.ALL & ~TestMemory.FLUSH_PERSISTENT;
    refuses(Post.flush(1, target, 0, 8, GLOBAL | PERSISTENT), invalid, nak);
  }

  private List<Post> both() {
    return List.of(Post.atomicWrite(1, target, 0).inline(eight(1)), Post.flush(1, target, 0, 8, GLOBAL));
  }

  @Test
  void noDepthForThem() {
    for (Post post : both()) {
      TestQp[] responder = world.pair(QpKind.RC, settings -> settings.maxDestinationReadAtomic = 0);
      refuses(responder, post, CompletionStatus.REMOTE_INVALID_REQUEST, FailedCheck.NAK_INVALID_REQUEST);
      TestQp[] requester = world.pair(QpKind.RC, settings -> settings.maxReadAtomic = 0);
      refuses(requester, post, CompletionStatus.LOCAL_QP_OPERATION_ERROR, FailedCheck.READ_DEPTH);
    }
  }

  @Test
  void whatTheRequesterRefuses() {
    CompletionStatus local = CompletionStatus.LOCAL_QP_OPERATION_ERROR;
    refuses(Post.atomicWrite(1, target, 4).inline(eight(1)), local, FailedCheck.ATOMIC_SHAPE);
    refuses(Post.atomicWrite(1, target, 0).local(source, 0, 16), local, FailedCheck.ATOMIC_SHAPE);
    refuses(Post.atomicWrite(1, target, 0).local(source, 0, 4), local, FailedCheck.ATOMIC_SHAPE);
    refuses(Post.flush(1, target, 0, 8, 0), local, FailedCheck.FLUSH_SHAPE);
    refuses(Post.flush(1, target, 0, 8, 4), local, FailedCheck.FLUSH_SHAPE);
    refuses(Post.flush(1, target, 0, 8, GLOBAL).selectivity(2), local, FailedCheck.FLUSH_SHAPE);
    refuses(Post.flush(1, target, 0, 8, GLOBAL).selectivity(-1), local, FailedCheck.FLUSH_SHAPE);
    refuses(
        Post.flush(1, target, 0, (1L << 31) + 1, GLOBAL), CompletionStatus.LOCAL_LENGTH_ERROR,
        FailedCheck.MESSAGE_TOO_LONG);
    refuses(
        Post.atomicWrite(1, target, 0).sge(source.address(0), 8, 0x77), CompletionStatus.LOCAL_PROTECTION_ERROR,
        FailedCheck.LOCAL_KEY);
  }

  @ParameterizedTest
  @EnumSource(value = QpKind.class, names = {"UC", "UD", "GSI"})
  void otherServicesHaveNone(QpKind kind) {
    for (Post post : both()) {
      TestQp[] qp = world.pair(kind);
      qp[0].post(post);
      world.run();
      assertFailed(qp[0].sends.getFirst(), 1, CompletionStatus.LOCAL_QP_OPERATION_ERROR, FailedCheck.OPCODE);
      a.engine.destroy(qp[0].context);
      b.engine.destroy(qp[1].context);
    }
    assertUntouched(target, 0, 4096);
  }

  private void hostile(Packets packet) {
    TestQp[] qp = world.pair(QpKind.RC);
    answered.clear();
    record();
    byte[] bytes = packet.to(qp[1].number()).bytes();
    a.link.inject(a.routeTo(b), bytes);
    world.run();
    assertState(TransportState.ERR, qp[1]);
    assertEquals(List.of(QpEvent.REQUEST_ERROR), qp[1].events);
    String nak = "1100ffff" + hex(qp[0].number(), 8) + "00000000" + hex(Syndrome.NAK_INVALID_REQUEST, 2) + "000000";
    assertEquals(List.of(nak), answered);
    assertUntouched(target, 0, 4096);
    assertEquals(List.of(), target.persisted);
  }

  @ParameterizedTest
  @CsvSource({"4, 8", "12, 8", "0, 8", "7, 8", "8, 7", "8, 0", "8, 16", "8, 4294967295"})
  void anAtomicWriteOfAnotherLength(int payload, long announced) {
    hostile(Packets.of(Opcode.RC_ATOMIC_WRITE, 0, 0, payload).reth(target.address(0), target.key(), announced));
  }

  @Test
  void anAtomicWriteToAnAddressThatIsNoMultipleOfEight() {
    hostile(Packets.of(Opcode.RC_ATOMIC_WRITE, 0, 0, 8).reth(target.address(4), target.key(), 8));
  }

  @ParameterizedTest
  @CsvSource({"0, 0", "4, 0", "8, 1", "15, 0", "1, 2", "3, 3"})
  void aFlushOfNoKnownType(int placement, int selectivity) {
    hostile(
        Packets.of(Opcode.RC_FLUSH, 0, 0, 0)
            .feth(placement, selectivity).reth(target.address(0), target.key(), 8));
  }

  @ParameterizedTest
  @ValueSource(ints = {4, 64})
  void aFlushWithPayload(int payload) {
    hostile(Packets.of(Opcode.RC_FLUSH, 0, 0, payload).feth(GLOBAL, 0).reth(target.address(0), target.key(), 8));
  }

  @Test
  void aFlushOfMoreThanMessagesCanHave() {
    hostile(Packets.of(Opcode.RC_FLUSH, 0, 0, 0).feth(GLOBAL, 0).reth(target.address(0), target.key(), 0x8000_0001L));
  }

  /** What a peer answers that is no answer to it. */
  @ParameterizedTest
  @ValueSource(ints = {Opcode.RC_RDMA_READ_RESPONSE_FIRST, Opcode.RC_ATOMIC_ACKNOWLEDGE})
  void aWrongAnswerFailsTheRequest(int opcode) {
    TestQp[] qp = world.pair(QpKind.RC);
    b.link.filter(drop(0, responses()));
    qp[0].post(Post.flush(1, target, 0, 8, GLOBAL));
    world.settle();
    b.link.inject(
        b.routeTo(a), Packets.of(opcode, qp[0].number(), 0, 0).aeth(Syndrome.ACK_NO_CREDIT_LIMIT, 1).bytes());
    world.settle();
    assertFailed(qp[0].sends.getFirst(), 1, CompletionStatus.BAD_RESPONSE, FailedCheck.RESPONSE_MISMATCH);
  }

  @Test
  void anAnswerWithDataFailsTheRequest() {
    TestQp[] qp = world.pair(QpKind.RC);
    b.link.filter(drop(0, responses()));
    qp[0].post(Post.atomicWrite(1, target, 0).inline(eight(1)));
    world.settle();
    b.link.inject(
        b.routeTo(a),
        Packets.of(Opcode.RC_RDMA_READ_RESPONSE_ONLY, qp[0].number(), 0, 8)
            .aeth(Syndrome.ACK_NO_CREDIT_LIMIT, 1).bytes());
    world.settle();
    assertFailed(qp[0].sends.getFirst(), 1, CompletionStatus.BAD_RESPONSE, FailedCheck.RESPONSE_LENGTH);
  }
}
