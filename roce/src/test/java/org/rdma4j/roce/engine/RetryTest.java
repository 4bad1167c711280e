package org.rdma4j.roce.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rdma4j.roce.packet.Bth;
import org.rdma4j.roce.packet.Opcode;
import org.rdma4j.roce.packet.RnrTimer;

/** Lost, doubled and late packets; timers and retry counts. */
class RetryTest extends EngineTest {
  private static final long TIMEOUT = 4096L << 6;
  private static final int LONG_TIMEOUT = 14;
  private static final long FIRST_PROBE = (4096L << LONG_TIMEOUT) / 16;
  /** Of a queue pair that has had no answer yet: after a sixteenth and a quarter of the timeout more. */
  private static final int PROBES = 2;

  private final TestMemory source = a.memory(1 << 16);
  private final TestMemory target = b.memory(1 << 16);

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 5, 9})
  void anyLostPacketOfAMessageIsSentAgain(int lost) {
    TestQp[] qp = world.pair(QpKind.RC, settings -> settings.mtu = 256);
    fill(source, 1);
    qp[1].receives.post(100, target, 0, 4096);
    a.link.filter(drop(lost, requests()));
    qp[0].post(Post.send(1).local(source, 0, 2560));
    world.run();
    assertDone(qp[0].sends, 1);
    assertDone(qp[1].received, 100);
    assertSame(source, 0, target, 0, 2560);
    assertEquals(1, a.count(EngineCounter.COMPLETER_RETRY_ERR));
    boolean last = lost == 9;
    assertEquals(last ? 0 : 1, a.count(EngineCounter.RCVD_SEQ_ERR), "a gap is reported, a lost end times out");
    assertEquals(last, qp[0].sendDoneAt >= TIMEOUT);
    assertIdle();
  }

  @Test
  void oneGapIsReportedOnce() {
    TestQp[] qp = world.pair(QpKind.RC, settings -> settings.mtu = 256);
    a.link.filter(drop(0, requests()));
    b.link.filter(hold(responses()));
    qp[0].post(Post.write(1, target, 0).local(source, 0, 2560));
    for (int i = 0; i < 10; i++) {
      world.settle();
    }
    assertEquals(1, b.link.held());
    assertEquals(9, b.count(EngineCounter.OUT_OF_SEQ_REQUEST));
    b.link.filter(null);
    b.link.releaseHeld();
    world.run();
    assertDone(qp[0].sends, 1);
  }

  @Test
  void aLostAcknowledgeLeadsToADuplicateThatIsNotExecutedAgain() {
    TestQp[] qp = world.pair(QpKind.RC);
    receives(qp[1], 2, target, 4096);
    b.link.filter(drop(0, responses()));
    qp[0].post(Post.send(1).local(source, 0, 3000));
    world.run();
    assertDone(qp[0].sends, 1);
    assertDone(qp[1].received, 100);
    assertEquals(3, b.count(EngineCounter.DUPLICATE_REQUEST));
    assertIdle();
  }

  @Test
  void theLastOfManyAcknowledgesIsEnough() {
    TestQp[] qp = world.pair(QpKind.RC);
    b.link.filter(drop(0, responses()));
    qp[0].post(Post.write(1, target, 0).local(source, 0, 8));
    world.settle();
    qp[0].post(Post.write(2, target, 0).local(source, 0, 8));
    world.settle();
    assertDone(qp[0].sends, 1, 2);
    assertEquals(0, a.count(EngineCounter.COMPLETER_RETRY_ERR));
  }

  @Test
  void aLostAtomicAcknowledgeIsServedFromWhatWasSaved() {
    TestQp[] qp = world.pair(QpKind.RC);
    word(target, 0, 1000);
    b.link.filter(drop(0, responses()));
    qp[0].post(Post.fetchAdd(1, target, 0, 5).local(source, 0, 8));
    world.settle();
    assertEquals(1005, word(target, 0));
    word(target, 0, 777_777);
    world.run();
    assertDone(qp[0].sends, 1);
    assertEquals(1000, word(source, 0));
    assertEquals(777_777, word(target, 0), "executed once");
    assertEquals(1, b.count(EngineCounter.DUPLICATE_REQUEST));
  }

  @Test
  void everyLostAtomicAcknowledgeOfManyIsServedAgain() {
    TestQp[] qp = world.pair(QpKind.RC);
    for (int round = 0; round < 6; round++) {
      int lost = round;
      word(target, 0, 0);
      qp[0].sends.clear();
      b.link.filter(drop(lost, responses()));
      for (int i = 0; i < 6; i++) {
        qp[0].post(Post.fetchAdd(i, target, 0, 1).local(source, 8L * i, 8));
      }
      world.run();
      assertDone(qp[0].sends, 0, 1, 2, 3, 4, 5);
      for (int i = 0; i < 6; i++) {
        assertEquals(i, word(source, 8L * i));
      }
      assertEquals(6, word(target, 0));
    }
    assertIdle();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 4, 7, 63, 64, 65, 99})
  void aLostReadResponseIsAskedForAgain(int lost) {
    TestQp[] qp = world.pair(QpKind.RC, settings -> settings.mtu = 256);
    fill(target, 2);
    int length = 99 * 256 + 100;
    b.link.filter(drop(lost, responses()));
    qp[0].post(Post.read(1, target, 3).local(source, 0, length), Post.read(2, target, 0).local(source, 40_000, 8));
    world.run();
    assertDone(qp[0].sends, 1, 2);
    assertSame(target, 3, source, 0, length);
    assertSame(target, 0, source, 40_000, 8);
    assertTrue(a.count(EngineCounter.COMPLETER_RETRY_ERR) >= 1);
    assertIdle();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void aLostReadRequestIsSentAgain(int lost) {
    TestQp[] qp = world.pair(QpKind.RC, settings -> settings.mtu = 256);
    fill(target, 2);
    a.link.filter(drop(lost, requests()));
    qp[0].post(Post.read(1, target, 0).local(source, 0, 100 * 256));
    world.run();
    assertDone(qp[0].sends, 1);
    assertSame(target, 0, source, 0, 100 * 256);
    assertIdle();
  }

  @Test
  void aReadBehindASendAcknowledgesIt() {
    TestQp[] qp = world.pair(QpKind.RC);
    receives(qp[1], 1, target, 64);
    b.link.filter(drop(0, opcode(Opcode.RC_ACKNOWLEDGE)));
    qp[0].post(Post.send(1).local(source, 0, 8));
    world.settle();
    qp[0].post(Post.read(2, target, 0).local(source, 0, 8));
    world.settle();
    assertDone(qp[0].sends, 1, 2);
  }

  @Test
  void anAcknowledgeBehindALostReadResponseMeansThatItIsLost() {
    TestQp[] qp = world.pair(QpKind.RC);
    b.link.filter(drop(0, responses()));
    qp[0].post(
        Post.read(1, target, 0).local(source, 0, 8), Post.write(2, target, 64).local(source, 64, 8));
    world.settle();
    assertDone(qp[0].sends, 1, 2);
    assertEquals(0, qp[0].sendDoneAt, "no timer was needed");
  }

  @Test
  void aDoubledRequestOfAnyKindHasItsEffectOnce() {
    TestQp[] qp = world.pair(QpKind.RC, settings -> settings.mtu = 256);
    fill(source, 4);
    TestMemory back = a.memory(4096);
    receives(qp[1], 3, target, 1024);
    world.fabric.faults(org.rdma4j.roce.link.FaultPlan.NONE.withDuplication(1));
    qp[0].post(
        Post.send(1).local(source, 0, 700),
        Post.fetchAdd(2, target, 8192, 3).local(back, 0, 8),
        Post.read(3, target, 0).local(back, 8, 700),
        Post.fetchAdd(4, target, 8192, 3).local(back, 1000, 8),
        Post.write(5, target, 4096).local(source, 0, 700),
        Post.of(6, WorkOpcode.SEND_WITH_INV).local(source, 0, 7).immediate(0x55));
    world.run();
    assertDone(qp[0].sends, 1, 2, 3, 4, 5, 6);
    assertDone(qp[1].received, 100, 101);
    assertEquals(6, word(target, 8192));
    assertEquals(0, word(back, 0));
    assertEquals(3, word(back, 1000));
    assertEquals(List.of(0x55), qp[1].invalidated);
    assertSame(source, 0, back, 8, 700);
    assertSame(source, 0, target, 4096, 700);
    assertIdle();
  }

  @Test
  void aDuplicateOfAnOldAtomicThatIsForgottenIsDropped() {
    TestQp[] qp = world.pair(QpKind.RC, settings -> settings.maxDestinationReadAtomic = 2);
    qp[0].context.settings().maxReadAtomic = 1;
    byte[][] first = new byte[1][];
    a.link.filter(
        (packet, at, length) -> {
          if (first[0] == null) {
            first[0] = packet.asSlice(at, length).toArray(java.lang.foreign.ValueLayout.JAVA_BYTE);
          }
          return TestLink.Fate.PASS;
        });
    for (int i = 0; i < 5; i++) {
      qp[0].post(Post.fetchAdd(i, target, 0, 1).local(source, 0, 8));
    }
    world.run();
    int answers = b.link.sent;
    a.link.inject(a.routeTo(b), first[0]);
    world.run();
    assertEquals(5, word(target, 0));
    assertEquals(answers, b.link.sent);
  }

  @Test
  void aLateAcknowledgeEndsTheRetransmission() {
    TestQp[] qp = world.pair(QpKind.RC, settings -> settings.mtu = 256);
    b.link.filter(hold(responses()));
    qp[0].post(Post.write(1, target, 0).local(source, 0, 2560), Post.write(2, target, 0).local(source, 0, 600));
    world.settle();
    a.link.filter(everything());
    world.runFor(TIMEOUT + 100_000);
    assertEquals(1, a.count(EngineCounter.COMPLETER_RETRY_ERR), "it was sent again, in vain");
    a.link.filter(null);
    b.link.filter(null);
    b.link.releaseHeld();
    world.run();
    assertDone(qp[0].sends, 1, 2);
    assertEquals(1, a.count(EngineCounter.COMPLETER_RETRY_ERR));
    assertIdle();
  }

  @Test
  void anAcknowledgeThatOvertakesTheRetransmissionMovesItForward() {
    TestQp[] qp = world.pair(QpKind.RC, settings -> settings.mtu = 256);
    fill(source, 4);
    b.link.filter(hold(responses()));
    qp[0].post(Post.write(1, target, 0).local(source, 0, 2560));
    world.settle();
    assertEquals(1, b.link.held());
    a.link.refuse = 1_000_000;
    world.runFor(TIMEOUT + 100_000);
    b.link.filter(null);
    b.link.releaseHeld();
    a.engine.doWork();
    a.link.refuse = 0;
    int before = a.link.sent;
    world.run();
    assertDone(qp[0].sends, 1);
    assertEquals(before, a.link.sent, "nothing is sent again");
    qp[0].post(Post.write(2, target, 0).local(source, 0, 600));
    world.run();
    assertDone(qp[0].sends, 1, 2);
    assertIdle();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 3})
  void retriesAreCountedAndEndTheQueuePair(int retries) {
    TestQp[] qp = world.pair(QpKind.RC, settings -> settings.retryCount = retries);
    receives(qp[0], 2, source, 64);
    a.link.filter(everything());
    qp[0].post(
        Post.write(1, target, 0).local(source, 0, 8),
        Post.read(2, target, 0).local(source, 0, 8).unsignaled(),
        Post.write(3, target, 0).local(source, 0, 8));
    world.run();
    assertFailed(qp[0].sends.getFirst(), 1, CompletionStatus.RETRY_EXCEEDED, FailedCheck.RETRIES_USED);
    assertFlushed(qp[0].sends, 1, 2, 3);
    assertFlushed(qp[0].received, 0, 100, 101);
    assertState(TransportState.ERR, qp[0]);
    assertEquals(1, qp[0].errors);
    assertEquals(retries, a.count(EngineCounter.COMPLETER_RETRY_ERR));
    assertEquals(1, a.count(EngineCounter.RETRY_EXCEEDED_ERR));
    long expected = (retries + 1) * TIMEOUT;
    assertTrue(qp[0].sendDoneAt >= expected && qp[0].sendDoneAt < expected * 1.1, qp[0].sendDoneAt + " ns");
    assertIdle();
  }

  @Test
  void sevenRetriesAreEndless() {
    TestQp[] qp = world.pair(QpKind.RC, settings -> settings.retryCount = 7);
    a.link.filter(everything());
    qp[0].post(Post.write(1, target, 0).local(source, 0, 8));
    world.runFor(100 * TIMEOUT);
    assertTrue(a.count(EngineCounter.COMPLETER_RETRY_ERR) > 50);
    a.link.filter(null);
    world.run();
    assertDone(qp[0].sends, 1);
  }

  @Test
  void progressGivesAllRetriesBack() {
    TestQp[] qp = world.pair(QpKind.RC, settings -> settings.retryCount = 2);
    for (int i = 0; i < 5; i++) {
      int[] left = {2};
      a.link.filter((packet, at, length) -> left[0]-- > 0 ? TestLink.Fate.DROP : TestLink.Fate.PASS);
      qp[0].post(Post.write(i, target, 0).local(source, 0, 8));
      world.run();
    }
    assertDone(qp[0].sends, 0, 1, 2, 3, 4);
  }

  @Test
  void timeoutZeroWaitsForEver() {
    TestQp[] qp = world.pair(QpKind.RC, settings -> settings.timeout = 0);
    a.link.filter(drop(0, requests()));
    qp[0].post(Post.write(1, target, 0).local(source, 0, 8));
    world.run();
    assertEquals(0, qp[0].sends.size());
    assertEquals(Long.MAX_VALUE, world.nextEvent());
    qp[0].post(Post.write(2, target, 0).local(source, 0, 8));
    world.run();
    assertDone(qp[0].sends, 1, 2);
  }

  @Test
  void theTimerRestartsWithEveryProgress() {
    TestQp[] qp = world.pair(QpKind.RC);
    b.link.filter(hold(responses()));
    qp[0].post(Post.write(1, target, 0).local(source, 0, 8));
    world.settle();
    for (int i = 2; i < 12; i++) {
      world.runFor(TIMEOUT * 3 / 4);
      qp[0].post(Post.write(i, target, 0).local(source, 0, 8));
      b.link.releaseHeld();
      world.settle();
    }
    assertEquals(10, qp[0].sends.size());
    assertEquals(0, a.count(EngineCounter.COMPLETER_RETRY_ERR));
    b.link.filter(null);
    b.link.releaseHeld();
    world.run();
    assertEquals(11, qp[0].sends.size());
    assertIdle();
  }

  @Test
  void aLongTimeoutGoesRoundTheWheelOfTimersSeveralTimes() {
    TestQp[] qp = world.pair(QpKind.RC, settings -> settings.timeout = 18);
    a.link.filter(dropFirst(1 + PROBES));
    qp[0].post(Post.write(1, target, 0).local(source, 0, 8));
    world.run();
    assertDone(qp[0].sends, 1);
    long timeout = 4096L << 18;
    assertTrue(qp[0].sendDoneAt >= timeout && qp[0].sendDoneAt < timeout + 100_000, qp[0].sendDoneAt + " ns");
  }

  /** Whatever the lost packet is, long before the timeout the peer is asked, which is no retry. */
  @ParameterizedTest
  @ValueSource(strings = {"SEND", "WRITE", "READ", "FETCH_ADD"})
  void aLostAnswerIsAskedForBeforeTheTimeout(String operation) {
    TestQp[] qp = world.pair(QpKind.RC, settings -> {
      settings.timeout = LONG_TIMEOUT;
      settings.retryCount = 0;
    });
    receives(qp[1], 1, target, 4096);
    fill(source, 3);
    fill(target, 4);
    b.link.filter(drop(0, responses()));
    qp[0].post(
        switch (operation) {
          case "SEND" -> Post.send(1).local(source, 0, 900);
          case "WRITE" -> Post.write(1, target, 0).local(source, 0, 900);
          case "READ" -> Post.read(1, target, 0).local(source, 0, 900);
          default -> Post.fetchAdd(1, target, 0, 5).local(source, 0, 8);
        });
    world.run();
    assertDone(qp[0].sends, 1);
    assertTrue(qp[0].sendDoneAt < FIRST_PROBE + 100_000, qp[0].sendDoneAt + " ns");
    assertEquals(0, a.count(EngineCounter.RETRY_EXCEEDED_ERR));
    assertIdle();
  }

  @Test
  void aLostEndIsSentAgainBeforeTheTimeout() {
    TestQp[] qp = world.pair(QpKind.RC, settings -> {
      settings.timeout = LONG_TIMEOUT;
      settings.retryCount = 0;
    });
    fill(source, 3);
    int[] seen = {0};
    a.link.filter(
        (packet, at, length) ->
            seen[0]++ < 10 && seen[0] > 6 ? TestLink.Fate.DROP : TestLink.Fate.PASS);
    qp[0].post(Post.write(1, target, 0).local(source, 0, 10 * 1024));
    world.run();
    assertDone(qp[0].sends, 1);
    assertSame(source, 0, target, 0, 10 * 1024);
    // The first probe learns what the peer has, the second that it has no more than that.
    assertTrue(qp[0].sendDoneAt < 2 * FIRST_PROBE + 200_000, qp[0].sendDoneAt + " ns");
    assertEquals(6 + 2 + 3, a.link.sent, "what got through, the probes, and what the peer still had not");
    assertIdle();
  }

  /** Where answers take microseconds, nobody waits for four milliseconds. */
  @Test
  void whereAnswersAreQuickAProbeIsEarly() {
    TestQp[] qp = world.pair(QpKind.RC, settings -> settings.timeout = LONG_TIMEOUT);
    qp[0].post(Post.write(1, target, 0).local(source, 0, 8));
    world.run();
    long before = world.clock.nanoTime();
    b.link.filter(drop(0, responses()));
    qp[0].post(Post.write(2, target, 0).local(source, 0, 8));
    world.run();
    assertDone(qp[0].sends, 1, 2);
    long took = qp[0].sendDoneAt - before;
    assertTrue(took >= 1_000_000 && took < 1_100_000, took + " ns");
  }

  /** The answer is late, not lost: what is on its way is not sent again. */
  @Test
  void aProbeThatWasNotNeededCostsOnePacket() {
    TestQp[] qp = world.pair(QpKind.RC, settings -> settings.timeout = LONG_TIMEOUT);
    fill(source, 3);
    b.link.filter(hold(responses()));
    qp[0].post(Post.write(1, target, 0).local(source, 0, 10 * 1024));
    world.settle();
    world.runFor(FIRST_PROBE + 100_000);
    assertEquals(11, a.link.sent);
    b.link.filter(null);
    b.link.releaseHeld();
    world.run();
    assertDone(qp[0].sends, 1);
    assertEquals(11, a.link.sent);
    assertIdle();
  }

  @Test
  void fewProbesComeBeforeTheTimeout() {
    TestQp[] qp = world.pair(QpKind.RC, settings -> {
      settings.timeout = LONG_TIMEOUT;
      settings.retryCount = 1;
    });
    int[] offered = {0};
    a.link.filter(
        (packet, at, length) -> {
          offered[0]++;
          return TestLink.Fate.DROP;
        });
    qp[0].post(Post.write(1, target, 0).local(source, 0, 8));
    world.run();
    assertEquals(CompletionStatus.RETRY_EXCEEDED, qp[0].sends.getFirst().status());
    assertEquals(2 * (1 + PROBES), offered[0]);
    long timeout = 4096L << LONG_TIMEOUT;
    assertTrue(qp[0].sendDoneAt >= 2 * timeout && qp[0].sendDoneAt < 2 * timeout + 200_000, qp[0].sendDoneAt + " ns");
  }

  /** Where the timeout is short anyway. */
  @Test
  void noProbesBeforeAShortTimeout() {
    TestQp[] qp = world.pair(QpKind.RC, settings -> settings.timeout = 9);
    b.link.filter(drop(0, responses()));
    qp[0].post(Post.write(1, target, 0).local(source, 0, 8));
    world.run();
    assertDone(qp[0].sends, 1);
    assertTrue(qp[0].sendDoneAt >= 4096L << 9, qp[0].sendDoneAt + " ns");
    assertEquals(1, a.count(EngineCounter.COMPLETER_RETRY_ERR));
  }

  private static TestLink.Filter dropFirst(int count) {
    int[] seen = {0};
    return (packet, at, length) -> seen[0]++ < count ? TestLink.Fate.DROP : TestLink.Fate.PASS;
  }

  @Test
  void receiverNotReadyIsAskedAgainAfterTheTimeItNames() {
    TestQp[] qp = world.pair(QpKind.RC, settings -> settings.minRnrTimer = 14);
    fill(source, 5);
    qp[0].post(Post.send(1).local(source, 0, 3000), Post.send(2).local(source, 0, 1));
    world.settle();
    assertEquals(1, b.count(EngineCounter.SEND_RNR_ERR));
    assertEquals(1, a.count(EngineCounter.RCVD_RNR_ERR));
    int sent = a.link.sent;
    world.runFor(RnrTimer.nanos(14) - 20_000);
    assertEquals(sent, a.link.sent, "nothing is sent while it waits");
    receives(qp[1], 2, target, 4096);
    world.run();
    assertDone(qp[0].sends, 1, 2);
    assertDone(qp[1].received, 100, 101);
    assertSame(source, 0, target, 0, 3000);
    assertTrue(qp[0].sendDoneAt >= RnrTimer.nanos(14));
    assertEquals(0, a.count(EngineCounter.COMPLETER_RETRY_ERR), "not a loss");
    assertIdle();
  }

  @Test
  void receiverNotReadyAcknowledgesWhatCameBefore() {
    TestQp[] qp = world.pair(QpKind.RC, settings -> settings.rnrRetry = 0);
    qp[0].post(Post.write(1, target, 0).local(source, 0, 8), Post.send(2).local(source, 0, 3000));
    world.run();
    assertEquals(1, qp[0].sends.getFirst().id());
    assertEquals(CompletionStatus.SUCCESS, qp[0].sends.getFirst().status());
    assertFailed(qp[0].sends.get(1), 2, CompletionStatus.RNR_RETRY_EXCEEDED, FailedCheck.RNR_RETRIES_USED);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 6})
  void receiverNotReadyIsNotAskedForEver(int retries) {
    TestQp[] qp = world.pair(QpKind.RC, settings -> settings.rnrRetry = retries);
    qp[0].post(Post.send(1).local(source, 0, 8), Post.send(2).local(source, 0, 8));
    world.run();
    assertFailed(qp[0].sends.getFirst(), 1, CompletionStatus.RNR_RETRY_EXCEEDED, FailedCheck.RNR_RETRIES_USED);
    assertFlushed(qp[0].sends, 1, 2);
    assertEquals(retries + 1, b.count(EngineCounter.SEND_RNR_ERR));
    assertEquals(1, a.count(EngineCounter.RETRY_RNR_EXCEEDED_ERR));
    assertState(TransportState.RTS, qp[1]);
    assertIdle();
  }

  @Test
  void receiverNotReadyForAWriteWithImmediateComesAtItsEnd() {
    TestQp[] qp = world.pair(QpKind.RC, settings -> settings.mtu = 256);
    fill(source, 5);
    qp[0].post(Post.of(1, WorkOpcode.RDMA_WRITE_WITH_IMM).remote(target, 0).local(source, 0, 1000).immediate(3));
    world.settle();
    assertEquals(1, b.count(EngineCounter.SEND_RNR_ERR));
    assertSame(source, 0, target, 0, 768);
    assertUntouched(target, 768, 1000);
    qp[1].receives.postEmpty(100);
    world.run();
    assertDone(qp[0].sends, 1);
    assertDone(qp[1].received, 100);
    assertEquals(1000, qp[1].received.getFirst().byteLength());
    assertSame(source, 0, target, 0, 1000);
    assertEquals(0, b.count(EngineCounter.DUPLICATE_REQUEST), "only the last packet is sent again");
  }

  @Test
  void aRefusalThatIsOutOfDateIsNotSent() {
    TestQp[] qp = world.pair(QpKind.RC, settings -> settings.mtu = 256);
    fill(source, 4);
    b.link.refuse = Integer.MAX_VALUE;
    qp[0].post(Post.send(1).local(source, 0, 1000));
    world.work();
    assertEquals(1, b.count(EngineCounter.SEND_RNR_ERR));
    receives(qp[1], 1, target, 4096);
    a.link.filter(drop(1, requests()));
    world.clock.advanceBy(TIMEOUT + 50_000);
    world.work();
    assertEquals(1, qp[1].context.receivePsn(), "the first packet came again and was taken");
    b.link.refuse = 0;
    world.run();
    assertDone(qp[0].sends, 1);
    assertSame(source, 0, target, 0, 1000);
    assertEquals(0, a.count(EngineCounter.RCVD_RNR_ERR));
    assertIdle();
  }

  @Test
  void aReportOfAGapThatIsClosedIsNotSent() {
    TestQp[] qp = world.pair(QpKind.RC, settings -> settings.mtu = 256);
    fill(source, 4);
    a.link.filter(hold(drop(0, requests())));
    qp[0].post(Post.write(1, target, 0).local(source, 0, 512));
    b.link.refuse = Integer.MAX_VALUE;
    world.work();
    assertEquals(1, b.count(EngineCounter.OUT_OF_SEQ_REQUEST));
    a.link.filter(everything());
    a.link.releaseHeld();
    b.engine.doWork();
    assertEquals(1, qp[1].context.receivePsn());
    b.link.refuse = 0;
    world.settle();
    assertEquals(0, b.link.sent);
    a.link.filter(null);
    world.run();
    assertDone(qp[0].sends, 1);
    assertSame(source, 0, target, 0, 512);
    assertEquals(0, a.count(EngineCounter.RCVD_SEQ_ERR));
  }

  @Test
  void theWindowBoundsWhatIsInFlight() {
    TestQp[] qp = world.pair(QpKind.RC, settings -> settings.mtu = 256);
    b.link.filter(hold(responses()));
    qp[0].post(Post.write(1, target, 0).local(source, 0, 200 * 256));
    world.settle();
    assertEquals(128, a.link.sent);
    b.link.filter(null);
    b.link.releaseHeld();
    world.run();
    assertDone(qp[0].sends, 1);
    assertEquals(200, a.link.sent);
    assertSame(source, 0, target, 0, 200 * 256);
  }

  @Test
  void everyTimerCodeOfAReceiverThatIsNotReadyIsKept() {
    for (int code = 0; code < 32; code++) {
      int timer = code;
      TestQp[] qp = world.pair(QpKind.RC, settings -> settings.minRnrTimer = timer);
      long begin = world.clock.nanoTime();
      qp[0].post(Post.send(1).local(source, 0, 8));
      world.settle();
      receives(qp[1], 1, target, 64);
      world.run();
      assertDone(qp[0].sends, 1);
      long waited = qp[0].sendDoneAt - begin;
      assertTrue(
          waited >= RnrTimer.nanos(code) && waited < RnrTimer.nanos(code) + 40_000, "code " + code + ": " + waited);
    }
  }

  @Test
  void acknowledgesAreAskedForAtTheEndAndAfterManyPackets() {
    TestQp[] qp = world.pair(QpKind.RC, settings -> settings.mtu = 256);
    List<Integer> asked = new java.util.ArrayList<>();
    a.link.filter(
        (packet, at, length) -> {
          if (Bth.ackReq(packet, at)) {
            asked.add(Bth.psn(packet, at));
          }
          return TestLink.Fate.PASS;
        });
    qp[0].post(Post.write(1, target, 0).local(source, 0, 100 * 256), Post.write(2, target, 0).local(source, 0, 1));
    world.run();
    // The 66th packet is the first with more than 64 before it (rxe_req.c).
    assertEquals(List.of(65, 99, 100), asked);
  }
}
