package org.rdma4j.roce.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rdma4j.roce.packet.Opcode;

/** Requests that a reliable responder refuses, local work that fails, and what both sides are told. */
class RefusedRequestTest extends EngineTest {
  private final TestMemory source = a.memory(1 << 14);
  private final TestMemory target = b.memory(1 << 14);

  /** The request fails at the requester, what is behind it is flushed, the responder raises an event. */
  private void assertRefused(TestQp[] qp, CompletionStatus status, FailedCheck check, QpEvent event) {
    assertFailed(qp[0].sends.getFirst(), 1, status, check);
    assertFlushed(qp[0].sends, 1, 2);
    assertState(TransportState.ERR, qp[0]);
    assertState(TransportState.ERR, qp[1]);
    assertEquals(1, qp[0].errors);
    assertEquals(1, qp[1].errors);
    assertEquals(List.of(), qp[0].events);
    assertEquals(event == null ? List.of() : List.of(event), qp[1].events);
    assertEquals(0, qp[1].receives.size(), "its receives are flushed");
    assertIdle();
  }

  private void refuses(TestQp[] qp, Post bad, CompletionStatus status, FailedCheck check, QpEvent event) {
    receives(qp[1], 3, target, 64);
    qp[0].post(bad, Post.write(2, target, 0).local(source, 0, 8));
    world.run();
    assertRefused(qp, status, check, event);
  }

  private void refusesAccess(Post bad) {
    TestQp[] qp = world.pair(QpKind.RC);
    refuses(qp, bad, CompletionStatus.REMOTE_ACCESS_ERROR, FailedCheck.NAK_REMOTE_ACCESS, QpEvent.ACCESS_ERROR);
    assertFlushed(qp[1].received, 0, 100, 101, 102);
  }

  @Test
  void wrongKey() {
    refusesAccess(Post.of(1, WorkOpcode.RDMA_WRITE).remote(target.address(0), target.key() ^ 1).local(source, 0, 8));
    refusesAccess(Post.of(1, WorkOpcode.RDMA_READ).remote(target.address(0), target.key() ^ 1).local(source, 0, 8));
    refusesAccess(
        Post.of(1, WorkOpcode.ATOMIC_FETCH_AND_ADD).remote(target.address(0), 0).local(source, 0, 8));
    refusesAccess(Post.of(1, WorkOpcode.RDMA_WRITE).remote(target.address(0), -1).local(source, 0, 8));
  }

  @Test
  void wrongRange() {
    long end = target.segment.byteSize();
    refusesAccess(Post.write(1, target, end - 7).local(source, 0, 8));
    refusesAccess(Post.write(1, target, -1).local(source, 0, 8));
    refusesAccess(Post.read(1, target, end - 2999).local(source, 0, 3000));
    refusesAccess(Post.fetchAdd(1, target, end, 1).local(source, 0, 8));
    assertUntouched(target, 0, end);
  }

  @ParameterizedTest
  @ValueSource(longs = {-1, -8, -4096, Long.MIN_VALUE, Long.MAX_VALUE, 0, 8})
  void rangeThatWrapsAround(long address) {
    TestMemory high = b.memory(4096).at(-4096);
    int key = address >= -4096 && address < 0 ? high.key() : target.key();
    refusesAccess(Post.of(1, WorkOpcode.RDMA_WRITE).remote(address, key).local(source, 0, 4097));
    refusesAccess(Post.of(1, WorkOpcode.RDMA_READ).remote(address, key).local(source, 0, 4097));
    assertUntouched(high, 0, 4096);
    assertUntouched(target, 0, target.segment.byteSize());
  }

  @Test
  void theEndOfTheAddressSpaceCanBeUsed() {
    TestMemory high = b.memory(4096).at(-4096);
    fill(source, 5);
    TestQp[] qp = world.pair(QpKind.RC);
    qp[0].post(Post.write(1, high, 0).local(source, 0, 4096), Post.fetchAdd(2, high, 4088, 0).local(source, 8192, 8));
    world.run();
    assertDone(qp[0].sends, 1, 2);
    assertSame(source, 0, high, 0, 4096);
  }

  @Test
  void missingAccess() {
    for (int missing : new int[] {TestMemory.REMOTE_WRITE, TestMemory.REMOTE_READ, TestMemory.REMOTE_ATOMIC}) {
      TestMemory poor = b.register(target.segment, TestPort.PD, TestMemory.ALL & ~missing);
      Post post =
          missing == TestMemory.REMOTE_WRITE
              ? Post.write(1, poor, 0)
              : missing == TestMemory.REMOTE_READ ? Post.read(1, poor, 0) : Post.fetchAdd(1, poor, 0, 1);
      refusesAccess(post.local(source, 0, 8));
    }
    refusesAccess(
        Post.write(1, b.register(target.segment, TestPort.PD, TestMemory.LOCAL_WRITE), 0).local(source, 0, 8));
  }

  @Test
  void otherProtectionDomain() {
    refusesAccess(Post.write(1, b.register(target.segment, 2, TestMemory.ALL), 0).local(source, 0, 8));
    refusesAccess(Post.read(1, b.register(target.segment, 2, TestMemory.ALL), 0).local(source, 0, 8));
    refusesAccess(Post.fetchAdd(1, b.register(target.segment, 2, TestMemory.ALL), 0, 1).local(source, 0, 8));
  }

  @Test
  void windowOfAnotherQueuePair() {
    TestMemory window = b.register(target.segment, TestPort.PD, TestMemory.ALL).bind(0x999);
    refusesAccess(Post.write(1, window, 0).local(source, 0, 8));
    TestQp[] qp = world.pair(QpKind.RC);
    window.bind(qp[1].number());
    qp[0].post(Post.write(1, window, 0).local(source, 0, 8));
    world.run();
    assertDone(qp[0].sends, 1);
  }

  @Test
  void zeroLengthDoesNotLookAtTheKey() {
    TestQp[] qp = world.pair(QpKind.RC);
    qp[0].post(
        Post.of(1, WorkOpcode.RDMA_WRITE).remote(1, 2), Post.of(2, WorkOpcode.RDMA_READ).remote(-1, -1));
    world.run();
    assertDone(qp[0].sends, 1, 2);
  }

  @Test
  void queuePairThatDoesNotPermitIt() {
    for (int missing : new int[] {TestMemory.REMOTE_WRITE, TestMemory.REMOTE_READ, TestMemory.REMOTE_ATOMIC}) {
      TestQp[] qp = world.pair(QpKind.RC, settings -> settings.access = TestMemory.ALL & ~missing);
      Post post =
          missing == TestMemory.REMOTE_WRITE
              ? Post.write(1, target, 0)
              : missing == TestMemory.REMOTE_READ ? Post.read(1, target, 0) : Post.fetchAdd(1, target, 0, 1);
      refuses(
          qp, post.local(source, 0, 8), CompletionStatus.REMOTE_INVALID_REQUEST, FailedCheck.NAK_INVALID_REQUEST,
          QpEvent.REQUEST_ERROR);
    }
  }

  @Test
  void atomicThatIsNotAligned() {
    TestQp[] qp = world.pair(QpKind.RC);
    // The requester refuses it already; this responder is asked by one that does not.
    qp[0].post(Post.fetchAdd(1, target, 4, 1).local(source, 0, 8));
    world.run();
    assertFailed(
        qp[0].sends.getFirst(), 1, CompletionStatus.LOCAL_QP_OPERATION_ERROR, FailedCheck.ATOMIC_SHAPE);
    assertState(TransportState.RTS, qp[1]);
  }

  @Test
  void atomicThatIsNotAlignedFromTheWire() {
    TestQp[] qp = world.pair(QpKind.RC);
    a.link.filter(
        (packet, at, length) -> {
          long address = at + Opcode.atomicOffset(Opcode.RC_FETCH_ADD) + 7;
          packet.set(java.lang.foreign.ValueLayout.JAVA_BYTE, address, (byte) 1);
          return TestLink.Fate.PASS;
        });
    qp[0].post(Post.fetchAdd(1, target, 0, 1).local(source, 0, 8));
    world.run();
    assertFailed(
        qp[0].sends.getFirst(), 1, CompletionStatus.REMOTE_INVALID_REQUEST, FailedCheck.NAK_INVALID_REQUEST);
    assertUntouched(target, 0, 16);
  }

  @Test
  void sendThatIsLongerThanTheReceive() {
    for (int length : new int[] {65, 3000}) {
      TestQp[] qp = world.pair(QpKind.RC);
      receives(qp[1], 2, target, 64);
      qp[0].post(Post.send(1).local(source, 0, length), Post.send(2).local(source, 0, 1));
      world.run();
      assertFailed(
          qp[0].sends.getFirst(), 1, CompletionStatus.REMOTE_INVALID_REQUEST, FailedCheck.NAK_INVALID_REQUEST);
      assertFailed(
          qp[1].received.getFirst(), 100, CompletionStatus.LOCAL_LENGTH_ERROR, FailedCheck.RECEIVE_TOO_SHORT);
      assertFlushed(qp[0].sends, 1, 2);
      assertFlushed(qp[1].received, 1, 101);
      assertIdle();
    }
    assertUntouched(target, 128, 4096);
  }

  @Test
  void receiveWithoutRightToItsMemory() {
    TestMemory readOnly = b.register(target.segment, TestPort.PD, 0);
    TestQp[] qp = world.pair(QpKind.RC);
    qp[1].receives.post(100, readOnly, 0, 64);
    qp[0].post(Post.send(1).local(source, 0, 8));
    world.run();
    assertFailed(
        qp[0].sends.getFirst(), 1, CompletionStatus.REMOTE_OPERATION_ERROR, FailedCheck.NAK_REMOTE_OPERATION);
    assertFailed(
        qp[1].received.getFirst(), 100, CompletionStatus.LOCAL_PROTECTION_ERROR, FailedCheck.LOCAL_WRITE_ACCESS);
    assertState(TransportState.ERR, qp[1]);
    assertIdle();
  }

  @Test
  void keyThatCannotBeInvalidated() {
    TestQp[] qp = world.pair(QpKind.RC);
    qp[1].invalidateAnswer = FailedCheck.INVALIDATE;
    receives(qp[1], 2, target, 64);
    qp[0].post(Post.of(1, WorkOpcode.SEND_WITH_INV).local(source, 0, 8).immediate(5));
    world.run();
    assertFailed(qp[0].sends.getFirst(), 1, CompletionStatus.REMOTE_ACCESS_ERROR, FailedCheck.NAK_REMOTE_ACCESS);
    assertEquals(FailedCheck.INVALIDATE, qp[1].received.getFirst().check());
    assertFlushed(qp[1].received, 1, 101);
  }

  @Test
  void moreReadsThanTheResponderTakes() {
    TestQp[] qp = world.pair(QpKind.RC, settings -> settings.maxDestinationReadAtomic = 2);
    b.link.refuse = 10;
    qp[0].post(
        Post.read(1, target, 0).local(source, 0, 8),
        Post.fetchAdd(2, target, 0, 1).local(source, 0, 8),
        Post.read(3, target, 0).local(source, 0, 8));
    world.run();
    assertEquals(CompletionStatus.SUCCESS, qp[0].sends.getFirst().status());
    assertEquals(CompletionStatus.SUCCESS, qp[0].sends.get(1).status());
    assertFailed(
        qp[0].sends.get(2), 3, CompletionStatus.REMOTE_INVALID_REQUEST, FailedCheck.NAK_INVALID_REQUEST);
  }

  @Test
  void readsUpToTheLimitOfTheRequester() {
    TestQp[] qp = world.pair(QpKind.RC);
    qp[0].context.settings().maxReadAtomic = 3;
    b.link.filter(hold(responses()));
    for (int i = 0; i < 10; i++) {
      qp[0].post(Post.read(i, target, 0).local(source, 0, 8));
    }
    world.settle();
    assertEquals(3, a.link.sent);
    b.link.releaseHeld();
    world.settle();
    assertEquals(6, a.link.sent);
    b.link.filter(null);
    b.link.releaseHeld();
    world.run();
    assertEquals(10, qp[0].sends.size());
    assertEquals(0, a.count(EngineCounter.COMPLETER_RETRY_ERR));
  }

  @Test
  void responderWithoutRoomForReads() {
    refuses(
        world.pair(QpKind.RC, settings -> settings.maxDestinationReadAtomic = 0),
        Post.read(1, target, 0).local(source, 0, 8), CompletionStatus.REMOTE_INVALID_REQUEST,
        FailedCheck.NAK_INVALID_REQUEST, QpEvent.REQUEST_ERROR);
  }

  @Test
  void requesterWithoutRoomForReads() {
    TestQp[] qp = world.pair(QpKind.RC);
    qp[0].context.settings().maxReadAtomic = 0;
    qp[0].post(Post.write(1, target, 0).local(source, 0, 8), Post.read(2, target, 0).local(source, 0, 8));
    world.run();
    assertEquals(CompletionStatus.SUCCESS, qp[0].sends.getFirst().status());
    assertFailed(qp[0].sends.get(1), 2, CompletionStatus.LOCAL_QP_OPERATION_ERROR, FailedCheck.READ_DEPTH);
  }

  @Test
  void theNakWaitsForTheReadResponsesBeforeIt() {
    TestQp[] qp = world.pair(QpKind.RC, settings -> settings.mtu = 256);
    fill(target, 3);
    b.link.refuse = 3;
    qp[0].post(
        Post.read(1, target, 0).local(source, 0, 5000),
        Post.of(2, WorkOpcode.RDMA_WRITE).remote(0, 0).local(source, 0, 8),
        Post.write(3, target, 0).local(source, 0, 8));
    world.run();
    assertEquals(CompletionStatus.SUCCESS, qp[0].sends.getFirst().status());
    assertSame(target, 0, source, 0, 5000);
    assertFailed(qp[0].sends.get(1), 2, CompletionStatus.REMOTE_ACCESS_ERROR, FailedCheck.NAK_REMOTE_ACCESS);
    assertFlushed(qp[0].sends, 2, 3);
  }

  @Test
  void regionThatGoesWhileAWriteIsUnderWay() {
    TestQp[] qp = world.pair(QpKind.RC, settings -> settings.mtu = 256);
    int[] sent = {0};
    a.link.filter(
        (packet, at, length) -> {
          if (++sent[0] == 3) {
            b.deregister(target);
          }
          return TestLink.Fate.PASS;
        });
    qp[0].post(Post.write(1, target, 0).local(source, 0, 2560));
    world.run();
    assertFailed(qp[0].sends.getFirst(), 1, CompletionStatus.REMOTE_ACCESS_ERROR, FailedCheck.NAK_REMOTE_ACCESS);
    assertIdle();
  }

  @Test
  void regionThatGoesWhileAReadIsAnswered() {
    TestQp[] qp = world.pair(QpKind.RC, settings -> settings.mtu = 256);
    receives(qp[1], 1, b.memory(64), 64);
    fill(target, 1);
    int[] sent = {0};
    b.link.filter(
        (packet, at, length) -> {
          if (++sent[0] == 3) {
            b.deregister(target);
          }
          return TestLink.Fate.PASS;
        });
    qp[0].post(Post.read(1, target, 0).local(source, 0, 2560));
    world.run();
    assertFailed(qp[0].sends.getFirst(), 1, CompletionStatus.REMOTE_ACCESS_ERROR, FailedCheck.NAK_REMOTE_ACCESS);
    assertSame(target, 0, source, 0, 768);
    assertUntouched(source, 768, 2560);
    assertEquals(List.of(QpEvent.ACCESS_ERROR), qp[1].events);
    assertIdle();
  }

  @Test
  void memoryThatIsReleasedUnderTheRegion() {
    int[] operations = {
      WorkOpcode.RDMA_WRITE, WorkOpcode.RDMA_READ, WorkOpcode.ATOMIC_FETCH_AND_ADD, WorkOpcode.ATOMIC_CMP_AND_SWP
    };
    for (int operation : operations) {
      Arena arena = Arena.ofShared();
      TestMemory gone = b.register(arena.allocate(4096, 8), TestPort.PD, TestMemory.ALL);
      arena.close();
      refusesAccess(Post.of(1, operation).remote(gone, 0).local(source, 0, 8));
    }
  }

  @Test
  void localMemoryThatIsReleased() {
    Arena arena = Arena.ofShared();
    TestMemory gone = a.register(arena.allocate(4096, 8), TestPort.PD, TestMemory.ALL);
    arena.close();
    for (Post post : List.of(Post.write(2, target, 0), Post.read(2, target, 0), Post.fetchAdd(2, target, 0, 1))) {
      TestQp[] qp = world.pair(QpKind.RC);
      qp[0].post(Post.write(1, target, 0).local(source, 0, 3000), post.local(gone, 0, 8));
      world.run();
      assertEquals(CompletionStatus.SUCCESS, qp[0].sends.getFirst().status());
      assertFailed(
          qp[0].sends.get(1), 2, CompletionStatus.LOCAL_PROTECTION_ERROR, FailedCheck.LOCAL_MEMORY_GONE);
    }
  }

  private void failsLocally(Post bad, CompletionStatus status, FailedCheck check) {
    TestQp[] qp = world.pair(QpKind.RC);
    receives(qp[0], 1, source, 8);
    qp[0].post(
        Post.write(1, target, 0).local(source, 0, 3000), Post.write(2, target, 0).local(source, 0, 1).unsignaled(),
        bad, Post.write(4, target, 8).local(source, 0, 8));
    world.run();
    assertEquals(1, qp[0].sends.getFirst().id());
    assertEquals(CompletionStatus.SUCCESS, qp[0].sends.getFirst().status());
    assertFailed(qp[0].sends.get(1), 3, status, check);
    assertFlushed(qp[0].sends, 2, 4);
    assertFlushed(qp[0].received, 0, 100);
    assertEquals(1, qp[0].errors);
    assertState(TransportState.ERR, qp[0]);
    assertState(TransportState.RTS, qp[1]);
    assertIdle();
  }

  @Test
  void localWorkThatIsWrong() {
    CompletionStatus protection = CompletionStatus.LOCAL_PROTECTION_ERROR;
    CompletionStatus operation = CompletionStatus.LOCAL_QP_OPERATION_ERROR;
    long end = source.segment.byteSize();
    failsLocally(Post.send(3).sge(source.address(0), 8, source.key() ^ 7), protection, FailedCheck.LOCAL_KEY);
    failsLocally(Post.write(3, target, 0).sge(source.address(0), 8, 0), protection, FailedCheck.LOCAL_KEY);
    failsLocally(Post.write(3, target, 0).local(source, end - 7, 8), protection, FailedCheck.LOCAL_RANGE);
    failsLocally(Post.write(3, target, 0).local(source, -1, 8), protection, FailedCheck.LOCAL_RANGE);
    failsLocally(Post.write(3, target, 0).sge(-4, 8, source.key()), protection, FailedCheck.LOCAL_RANGE);
    TestMemory other = a.register(source.segment, 2, TestMemory.ALL);
    failsLocally(
        Post.write(3, target, 0).local(other, 0, 8), protection, FailedCheck.LOCAL_PROTECTION_DOMAIN);
    TestMemory readOnly = a.register(source.segment, TestPort.PD, 0);
    failsLocally(Post.read(3, target, 0).local(readOnly, 0, 8), protection, FailedCheck.LOCAL_WRITE_ACCESS);
    failsLocally(
        Post.fetchAdd(3, target, 0, 1).local(readOnly, 0, 8), protection, FailedCheck.LOCAL_WRITE_ACCESS);
    failsLocally(Post.fetchAdd(3, target, 0, 1).local(source, 0, 7), operation, FailedCheck.ATOMIC_SHAPE);
    failsLocally(Post.of(3, 17), operation, FailedCheck.OPCODE);
    failsLocally(Post.of(3, -1), operation, FailedCheck.OPCODE);
    failsLocally(Post.send(3).malformed(FailedCheck.LOCAL_OPERATION), operation, FailedCheck.LOCAL_OPERATION);
    failsLocally(
        Post.write(3, target, 0).sge(source.address(0), 0x80_0001, source.key()), CompletionStatus.LOCAL_LENGTH_ERROR,
        FailedCheck.MESSAGE_TOO_LONG);
    failsLocally(
        Post.write(3, target, 0).sge(0, -1, 0).sge(0, -1, 0), CompletionStatus.LOCAL_LENGTH_ERROR,
        FailedCheck.MESSAGE_TOO_LONG);
  }

  @Test
  void localMemoryThatFailsInTheMiddleOfAMessage() {
    TestQp[] qp = world.pair(QpKind.RC, settings -> settings.mtu = 256);
    receives(qp[1], 1, target, 4096);
    TestMemory second = a.memory(64);
    qp[0].post(
        Post.send(1).local(source, 0, 1000).local(second, 0, 65), Post.send(2).local(source, 0, 1));
    world.run();
    assertFailed(qp[0].sends.getFirst(), 1, CompletionStatus.LOCAL_PROTECTION_ERROR, FailedCheck.LOCAL_RANGE);
    assertFlushed(qp[0].sends, 1, 2);
    assertTrue(qp[1].received.isEmpty());
    qp[1].modify(TransportState.ERR);
    world.run();
    assertFlushed(qp[1].received, 0, 100);
    assertIdle();
  }

  @Test
  void aReadThatFailsLateFlushesTheReceiveOfAMessageBehindIt() {
    TestQp[] qp = world.pair(QpKind.RC, settings -> settings.mtu = 256);
    TestMemory buffer = b.memory(4096);
    receives(qp[1], 1, buffer, 4096);
    b.link.refuse = 100;
    qp[0].post(Post.read(1, target, 0).local(source, 0, 2560), Post.send(2).local(source, 0, 2560));
    a.link.filter(drop(9, requests()));
    a.engine.doWork();
    b.engine.doWork();
    b.deregister(target);
    b.link.refuse = 0;
    world.run();
    assertFailed(qp[0].sends.getFirst(), 1, CompletionStatus.REMOTE_ACCESS_ERROR, FailedCheck.NAK_REMOTE_ACCESS);
    assertFlushed(qp[1].received, 0, 100);
  }
}
