package org.rdma4j.roce.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rdma4j.roce.packet.Bth;
import org.rdma4j.roce.packet.Opcode;

/** Every operation of a reliable connection over a network without faults. */
class ReliableTransferTest extends EngineTest {
  private final TestMemory source = a.memory(1 << 16);
  private final TestMemory target = b.memory(1 << 16);

  @Test
  void sendsOneMessage() {
    TestQp[] qp = world.pair(QpKind.RC);
    fill(source, 1);
    qp[1].receives.post(100, target, 0, 64);
    qp[0].post(Post.send(1).local(source, 0, 40));
    world.run();
    assertDone(qp[0].sends, 1);
    assertDone(qp[1].received, 100);
    Done receive = qp[1].received.getFirst();
    assertEquals(40, receive.byteLength());
    assertEquals(Completion.OPCODE_RECEIVE, receive.opcode());
    assertEquals(Completion.GRH, receive.flags());
    assertFalse(receive.solicited());
    assertSame(source, 0, target, 0, 40);
    assertUntouched(target, 40, 64);
    assertEquals(2, a.link.sent + b.link.sent, "one request, one acknowledge");
    assertIdle();
  }

  /** An acknowledge may wait for an answer to ride behind; who ends instead of answering must not take it along. */
  @ParameterizedTest
  @ValueSource(strings = {"RESET", "ERR", "destroyed"})
  void whatWasReceivedIsAcknowledgedThoughTheQueuePairEndsAtOnce(String end) {
    TestQp[] qp = world.pair(QpKind.RC);
    fill(source, 1);
    qp[1].receives.post(100, target, 0, 64);
    qp[0].post(Post.send(1).local(source, 0, 40));
    while (qp[1].received.isEmpty()) {
      if (world.work() == 0) {
        world.clock.advanceTo(world.nextEvent());
      }
    }
    if (end.equals("destroyed")) {
      b.engine.destroy(qp[1].context);
    } else {
      qp[1].modify(TransportState.valueOf(end));
    }
    world.run();
    assertDone(qp[0].sends, 1);
    assertEquals(2, a.link.sent + b.link.sent, "one request, one acknowledge");
  }

  @ParameterizedTest
  @ValueSource(ints = {256, 512, 1024, 2048, 4096})
  void sendsMessagesOfAllLengthsAtEveryMtu(int mtu) {
    TestQp[] qp = world.pair(QpKind.RC, settings -> settings.mtu = mtu);
    fill(source, mtu);
    int[] lengths = {0, 1, 2, 3, 4, mtu - 1, mtu, mtu + 1, 2 * mtu, 2 * mtu + 3, 7 * mtu - 2};
    for (int length : lengths) {
      target.segment.fill((byte) 0);
      qp[1].received.clear();
      qp[0].sends.clear();
      qp[1].receives.post(100, target, 0, 8 * mtu);
      qp[0].post(Post.send(1).local(source, 5, length));
      world.run();
      assertDone(qp[0].sends, 1);
      assertDone(qp[1].received, 100);
      assertEquals(length, qp[1].received.getFirst().byteLength());
      assertSame(source, 5, target, 0, length);
      assertUntouched(target, length, 8L * mtu);
    }
    assertIdle();
  }

  @Test
  void sendsImmediateAndSolicited() {
    TestQp[] qp = world.pair(QpKind.RC);
    receives(qp[1], 2, target, 4096);
    qp[0].post(
        Post.of(1, WorkOpcode.SEND_WITH_IMM).local(source, 0, 3000).immediate(0xdeadbeef).solicited(),
        Post.of(2, WorkOpcode.SEND_WITH_IMM).immediate(7));
    world.run();
    assertDone(qp[0].sends, 1, 2);
    assertDone(qp[1].received, 100, 101);
    Done first = qp[1].received.getFirst();
    assertEquals(0xdeadbeef, first.immediate());
    assertEquals(Completion.GRH | Completion.WITH_IMMEDIATE, first.flags());
    assertTrue(first.solicited());
    assertEquals(7, qp[1].received.get(1).immediate());
    assertFalse(qp[1].received.get(1).solicited());
    assertEquals(0, qp[1].received.get(1).byteLength());
  }

  @Test
  void sendInvalidatesTheKeyBeforeTheCompletion() {
    TestQp[] qp = world.pair(QpKind.RC);
    receives(qp[1], 2, target, 4096);
    qp[0].post(
        Post.of(1, WorkOpcode.SEND_WITH_INV).local(source, 0, 3000).immediate(0x777),
        Post.of(2, WorkOpcode.SEND_WITH_INV).local(source, 0, 4).immediate(0x778));
    world.run();
    assertDone(qp[0].sends, 1, 2);
    assertDone(qp[1].received, 100, 101);
    assertEquals(0x777, qp[1].received.getFirst().immediate());
    assertEquals(Completion.GRH | Completion.WITH_INVALIDATE, qp[1].received.getFirst().flags());
    assertEquals(java.util.List.of(0x777, 0x778), qp[1].invalidated);
  }

  @ParameterizedTest
  @ValueSource(ints = {256, 512, 1024, 2048, 4096})
  void writesAndReadsAllLengthsAtEveryMtu(int mtu) {
    TestQp[] qp = world.pair(QpKind.RC, settings -> settings.mtu = mtu);
    fill(source, mtu);
    TestMemory back = a.memory(1 << 16);
    for (int length : new int[] {0, 1, 3, 8, mtu - 1, mtu, mtu + 1, 3 * mtu, 5 * mtu + 2}) {
      target.segment.fill((byte) 0);
      back.segment.fill((byte) 0);
      qp[0].sends.clear();
      qp[0].post(
          Post.write(1, target, 32).local(source, 1, length), Post.read(2, target, 32).local(back, 64, length));
      world.run();
      assertDone(qp[0].sends, 1, 2);
      assertEquals(length, qp[0].sends.get(1).byteLength());
      assertUntouched(target, 0, 32);
      assertSame(source, 1, target, 32, length);
      assertUntouched(target, 32 + length, 32 + length + 64);
      assertSame(target, 32, back, 64, length);
      assertUntouched(back, 64 + length, 64 + length + 64);
    }
    assertEquals(0, qp[1].received.size());
    assertIdle();
  }

  @Test
  void writeWithImmediateTakesAReceiveAndReportsTheLengthWritten() {
    TestQp[] qp = world.pair(QpKind.RC);
    fill(source, 9);
    qp[1].receives.postEmpty(100);
    qp[1].receives.postEmpty(101);
    qp[0].post(
        Post.of(1, WorkOpcode.RDMA_WRITE_WITH_IMM).remote(target, 8).local(source, 0, 2500).immediate(-1).solicited(),
        Post.of(2, WorkOpcode.RDMA_WRITE_WITH_IMM).remote(0, 0).immediate(5));
    world.run();
    assertDone(qp[0].sends, 1, 2);
    assertDone(qp[1].received, 100, 101);
    Done first = qp[1].received.getFirst();
    assertEquals(Completion.OPCODE_RECEIVE_RDMA_WITH_IMM, first.opcode());
    assertEquals(2500, first.byteLength());
    assertEquals(-1, first.immediate());
    assertTrue(first.solicited());
    assertSame(source, 0, target, 8, 2500);
    assertEquals(0, qp[1].received.get(1).byteLength());
  }

  @ParameterizedTest
  @ValueSource(ints = {63, 64, 65, 128, 200})
  void readsLongerThanAChunkGoOutAsSeveralRequests(int packets) {
    TestQp[] qp = world.pair(QpKind.RC, settings -> settings.mtu = 256);
    fill(target, 3);
    int length = packets * 256 - 1;
    int[] requests = {0};
    a.link.filter(
        (packet, at, bytes) -> {
          requests[0] += Bth.opcode(packet, at) == Opcode.RC_RDMA_READ_REQUEST ? 1 : 0;
          return TestLink.Fate.PASS;
        });
    qp[0].post(Post.read(1, target, 7).local(source, 3, length), Post.write(2, target, 0).local(source, 0, 1));
    world.run();
    assertDone(qp[0].sends, 1, 2);
    assertSame(target, 7, source, 3, length);
    assertEquals((packets + 63) / 64, requests[0]);
    assertEquals(0, a.count(EngineCounter.COMPLETER_RETRY_ERR));
    assertIdle();
  }

  @Test
  void compareSwapAndFetchAddReturnWhatWasThere() {
    TestQp[] qp = world.pair(QpKind.RC);
    word(target, 16, 100);
    qp[0].post(
        Post.fetchAdd(1, target, 16, 11).local(source, 0, 8),
        Post.compareSwap(2, target, 16, 111, -5).local(source, 8, 8),
        Post.compareSwap(3, target, 16, 111, 9).local(source, 16, 8),
        Post.fetchAdd(4, target, 16, -1).local(source, 24, 8));
    world.run();
    assertDone(qp[0].sends, 1, 2, 3, 4);
    assertEquals(100, word(source, 0));
    assertEquals(111, word(source, 8));
    assertEquals(-5, word(source, 16));
    assertEquals(-5, word(source, 24));
    assertEquals(-6, word(target, 16));
    assertEquals(8, qp[0].sends.getFirst().byteLength());
    assertEquals(3, qp[0].sends.get(1).opcode());
    assertEquals(4, qp[0].sends.getFirst().opcode());
  }

  @Test
  void atomicResultMayBeScattered() {
    TestQp[] qp = world.pair(QpKind.RC);
    word(target, 0, 0x0807060504030201L);
    qp[0].post(Post.fetchAdd(1, target, 0, 1).local(source, 0, 3).local(source, 100, 5));
    world.run();
    assertDone(qp[0].sends, 1);
    assertEquals(0x030201, word(source, 0));
    assertEquals(0x0807060504L, word(source, 100 & ~7) >>> 32 | (word(source, 104) & 0xff) << 32);
  }

  @Test
  void inlineDataIsSentFromTheRing() {
    TestQp[] qp = world.pair(QpKind.RC);
    var inline = Arena.ofAuto().allocate(300);
    inline.fill((byte) 0x5c);
    qp[1].receives.post(100, target, 0, 512);
    qp[0].post(
        Post.send(1).inline(inline), Post.write(2, target, 1024).inline(inline.asSlice(0, 5)),
        Post.write(3, target, 2048).inline(inline.asSlice(0, 0)));
    world.run();
    assertDone(qp[0].sends, 1, 2, 3);
    assertEquals(300, qp[1].received.getFirst().byteLength());
    assertEquals(-1, inline.mismatch(target.segment.asSlice(0, 300)) == -1 ? -1 : 0);
    assertEquals(0x5c5c5c5c5cL, word(target, 1024));
  }

  @Test
  void scatterGatherListsMeetAtAnyBoundary() {
    TestQp[] qp = world.pair(QpKind.RC, settings -> settings.mtu = 256);
    fill(source, 77);
    TestMemory second = b.memory(4096);
    qp[1].receives.post(
        100,
        new long[] {target.address(10), second.address(0), target.address(2000), second.address(3000)},
        new int[] {1, 300, 0, 1000},
        new int[] {target.key(), second.key(), target.key(), second.key()});
    qp[0].post(
        Post.send(1).local(source, 0, 100).local(source, 4000, 0).local(source, 100, 255).local(source, 355, 400));
    world.run();
    assertDone(qp[0].sends, 1);
    assertEquals(755, qp[1].received.getFirst().byteLength());
    assertSame(source, 0, target, 10, 1);
    assertSame(source, 1, second, 0, 300);
    assertSame(source, 301, second, 3000, 454);
    assertUntouched(second, 300, 3000);
    assertUntouched(second, 3454, 4096);
  }

  @Test
  void readIsScattered() {
    TestQp[] qp = world.pair(QpKind.RC, settings -> settings.mtu = 256);
    fill(target, 4);
    qp[0].post(
        Post.read(1, target, 1).local(source, 0, 7).local(source, 1000, 700).local(source, 3000, 1));
    world.run();
    assertDone(qp[0].sends, 1);
    assertSame(target, 1, source, 0, 7);
    assertSame(target, 8, source, 1000, 700);
    assertSame(target, 708, source, 3000, 1);
  }

  @Test
  void fenceWaitsForTheReadBeforeIt() {
    TestQp[] qp = world.pair(QpKind.RC);
    fill(target, 6);
    fill(source, 8);
    TestMemory back = a.memory(4096);
    b.link.filter(hold(responses()));
    qp[0].post(
        Post.read(1, target, 0).local(back, 0, 64),
        Post.write(2, target, 128).local(source, 0, 8),
        Post.write(3, target, 0).local(source, 0, 64).fence());
    world.settle();
    assertSame(source, 0, target, 128, 8);
    assertEquals(0, a.count(EngineCounter.COMPLETER_RETRY_ERR));
    TestMemory before = b.memory(64);
    fill(before, 6);
    assertSame(before, 0, target, 0, 64);
    b.link.filter(null);
    b.link.releaseHeld();
    world.run();
    assertDone(qp[0].sends, 1, 2, 3);
    assertSame(before, 0, back, 0, 64);
    assertSame(source, 0, target, 0, 64);
  }

  @Test
  void unsignaledSendsCompleteSilently() {
    TestQp[] qp = world.pair(QpKind.RC);
    receives(qp[1], 4, target, 64);
    qp[0].post(
        Post.send(1).local(source, 0, 8).unsignaled(),
        Post.send(2).local(source, 0, 8),
        Post.send(3).local(source, 0, 8).unsignaled(),
        Post.send(4).local(source, 0, 8).unsignaled());
    world.run();
    assertDone(qp[0].sends, 2);
    assertDone(qp[1].received, 100, 101, 102, 103);
    assertIdle();
  }

  @Test
  void aQueuePairMaySignalAll() {
    TestQp[] qp = {
      a.queuePair(QpKind.RC, new TestReceives(false), true), b.queuePair(QpKind.RC)
    };
    world.connect(qp[0], qp[1], settings -> {});
    qp[0].post(Post.write(1, target, 0).local(source, 0, 8).unsignaled());
    world.run();
    assertDone(qp[0].sends, 1);
  }

  @Test
  void sequenceNumbersWrapAround() {
    TestQp[] qp =
        world.pair(
            QpKind.RC,
            settings -> {
              settings.mtu = 256;
              settings.sendPsn = 0xfffff0;
              settings.receivePsn = 0xfffff0;
            });
    fill(source, 1);
    receives(qp[1], 1, target, 8192);
    TestMemory back = a.memory(1 << 14);
    qp[0].post(
        Post.send(1).local(source, 0, 8000),
        Post.read(2, target, 0).local(back, 0, 8000),
        Post.fetchAdd(3, target, 8192, 1).local(source, 0, 8));
    world.run();
    assertDone(qp[0].sends, 1, 2, 3);
    assertSame(source, 16, back, 16, 7984);
    assertEquals(0xfffff0 + 65 & 0xffffff, qp[0].context.sendPsn());
    assertEquals(qp[0].context.sendPsn(), qp[1].context.receivePsn());
  }

  @Test
  void moreIsPostedThanTheQueueOfTheEngineHolds() {
    TestQp[] qp = world.pair(QpKind.RC);
    long[] ids = new long[500];
    Post[] posts = new Post[ids.length];
    for (int i = 0; i < ids.length; i++) {
      ids[i] = i;
      posts[i] = Post.write(i, target, 0).local(source, 0, i);
    }
    qp[0].post(posts);
    world.run();
    assertDone(qp[0].sends, ids);
    assertIdle();
  }

  @Test
  void aFullLinkDelaysButLosesNothing() {
    TestQp[] qp = world.pair(QpKind.RC, settings -> settings.mtu = 256);
    fill(source, 2);
    TestMemory back = a.memory(1 << 14);
    qp[0].post(
        Post.write(1, target, 0).local(source, 0, 3000),
        Post.read(2, target, 0).local(back, 0, 3000),
        Post.fetchAdd(3, target, 4096, 1).local(source, 4096, 8));
    for (int i = 0; i < 200; i++) {
      a.link.refuse = i % 3;
      b.link.refuse = i % 2;
      world.work();
    }
    world.run();
    assertDone(qp[0].sends, 1, 2, 3);
    assertSame(source, 0, back, 0, 3000);
    assertEquals(0, a.count(EngineCounter.COMPLETER_RETRY_ERR));
  }

  @Test
  void acknowledgesOfOneBatchAreOne() {
    TestQp[] qp = world.pair(QpKind.RC);
    Post[] posts = new Post[20];
    for (int i = 0; i < posts.length; i++) {
      posts[i] = Post.write(i, target, 0).local(source, 0, 16);
    }
    qp[0].post(posts);
    world.run();
    assertEquals(20, qp[0].sends.size());
    assertEquals(1, b.link.sent);
    assertEquals(19, b.count(EngineCounter.ACK_DEFERRED));
  }

  /** While every duty cycle brings a message, every fourth is acknowledged, and the last as soon as none comes. */
  @Test
  void whileMoreComesNotEveryMessageIsAcknowledged() {
    TestQp[] qp = world.pair(QpKind.RC);
    for (int i = 0; i < 10; i++) {
      qp[0].post(Post.write(i, target, 0).local(source, 0, 16));
      a.engine.doWork();
      while (b.link.received <= i) {
        world.clock.advanceTo(world.nextEvent());
        b.engine.doWork();
      }
    }
    assertEquals(2, b.link.sent);
    assertEquals(10, b.link.received);
    world.run();
    assertEquals(3, b.link.sent);
    assertEquals(10, qp[0].sends.size());
  }

  @Test
  void bothDirectionsAndManyQueuePairsShareAPort() {
    TestMemory back = a.memory(1 << 16);
    fill(source, 3);
    TestQp[][] pairs = new TestQp[20][];
    for (int i = 0; i < pairs.length; i++) {
      pairs[i] = world.pair(QpKind.RC, settings -> settings.mtu = 256);
      receives(pairs[i][0], 1, back, 2000);
      receives(pairs[i][1], 1, target, 2000);
    }
    for (TestQp[] pair : pairs) {
      pair[0].post(Post.send(1).local(source, 0, 2000));
      pair[1].post(Post.send(2).local(target, 4096, 2000));
    }
    world.run();
    for (TestQp[] pair : pairs) {
      assertDone(pair[0].sends, 1);
      assertDone(pair[1].sends, 2);
      assertDone(pair[0].received, 100);
      assertDone(pair[1].received, 100);
    }
    assertSame(source, 0, target, 0, 2000);
  }

  @Test
  void answeringReadsLeavesRoomForOwnRequests() {
    TestQp[] qp = world.pair(QpKind.RC, settings -> settings.mtu = 256);
    receives(qp[1], 1, target, 4096);
    Post[] reads = new Post[60];
    for (int i = 0; i < reads.length; i++) {
      reads[i] = Post.read(i, source, 0).local(target, 8192, 128 * 256);
    }
    qp[1].post(reads);
    for (int i = 0; i < 4; i++) {
      world.work();
    }
    qp[0].post(Post.send(1).local(source, 0, 3000));
    int[] readsBefore = {0};
    for (int i = 0; i < 1000 && qp[0].sends.isEmpty(); i++) {
      world.work();
      readsBefore[0] = qp[1].sends.size();
    }
    world.run();
    assertDone(qp[0].sends, 1);
    assertEquals(60, qp[1].sends.size());
    assertTrue(readsBefore[0] < 20, () -> "the send waited for " + readsBefore[0] + " reads");
  }
}
