package org.rdma4j.roce.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.rdma4j.roce.packet.Opcode;

/** States of queue pairs: what is taken and sent in each, flush, drain, reset, events. */
class QueuePairStateTest extends EngineTest {
  private final TestMemory source = a.memory(1 << 14);
  private final TestMemory target = b.memory(1 << 14);

  @Test
  void nothingIsTakenBeforeReadyToReceive() {
    TestQp[] qp = {a.queuePair(QpKind.RC), b.queuePair(QpKind.RC)};
    world.prepare(qp[0], qp[1], settings -> settings.retryCount = 7);
    world.prepare(qp[1], qp[0], settings -> {});
    for (TransportState state : List.of(TransportState.INIT, TransportState.RTR, TransportState.RTS)) {
      qp[0].modify(state);
    }
    qp[1].modify(TransportState.INIT);
    receives(qp[1], 2, target, 64);
    qp[0].post(Post.send(1).local(source, 0, 8));
    world.runFor(1_000_000);
    assertTrue(b.count(EngineCounter.DROPPED_NO_QP) > 0);
    assertEquals(2, qp[1].receives.size());
    assertEquals(0, b.link.sent);
    qp[1].modify(TransportState.RTR);
    world.run();
    assertDone(qp[0].sends, 1);
    assertDone(qp[1].received, 100);
    assertEquals(List.of(QpEvent.COMMUNICATION_ESTABLISHED), qp[1].events);
  }

  @Test
  void communicationEstablishedIsSaidOnceAndOnlyBeforeReadyToSend() {
    TestQp[] qp = {a.queuePair(QpKind.RC), b.queuePair(QpKind.RC)};
    world.prepare(qp[0], qp[1], settings -> {});
    world.prepare(qp[1], qp[0], settings -> {});
    for (TransportState state : List.of(TransportState.INIT, TransportState.RTR, TransportState.RTS)) {
      qp[0].modify(state);
    }
    qp[1].modify(TransportState.INIT);
    qp[1].modify(TransportState.RTR);
    qp[0].post(Post.write(1, target, 0).local(source, 0, 8));
    world.run();
    qp[0].post(Post.write(2, target, 0).local(source, 0, 8));
    world.run();
    assertEquals(List.of(QpEvent.COMMUNICATION_ESTABLISHED), qp[1].events);
    qp[1].modify(TransportState.RTS);
    qp[0].post(Post.write(3, target, 0).local(source, 0, 8));
    world.run();
    assertEquals(1, qp[1].events.size());
    assertEquals(List.of(), qp[0].events);
  }

  @Test
  void readyToReceiveSendsNothingOfItsOwn() {
    TestQp[] qp = {a.queuePair(QpKind.RC), b.queuePair(QpKind.RC)};
    world.prepare(qp[0], qp[1], settings -> {});
    qp[0].modify(TransportState.INIT);
    qp[0].modify(TransportState.RTR);
    qp[0].post(Post.send(1).local(source, 0, 8));
    world.run();
    assertEquals(0, a.link.sent);
    qp[0].modify(TransportState.RTS);
    world.settle();
    assertEquals(1, a.link.sent);
  }

  @Test
  void errorFlushesEverythingInOrderAndOnce() {
    TestQp[] qp = world.pair(QpKind.RC, settings -> settings.mtu = 256);
    receives(qp[0], 3, source, 64);
    b.link.filter(everything());
    qp[0].post(
        Post.write(1, target, 0).local(source, 0, 3000),
        Post.read(2, target, 0).local(source, 0, 3000).unsignaled(),
        Post.fetchAdd(3, target, 0, 1).local(source, 0, 8),
        Post.send(4).local(source, 0, 8).fence(),
        Post.of(5, 17));
    world.settle();
    assertEquals(0, qp[0].sends.size());
    qp[0].modify(TransportState.ERR);
    assertFlushed(qp[0].sends, 0, 1, 2, 3, 4, 5);
    assertFlushed(qp[0].received, 0, 100, 101, 102);
    qp[0].modify(TransportState.ERR);
    world.run();
    assertEquals(5, qp[0].sends.size());
    assertEquals(0, qp[0].errors, "its owner asked for it");
    assertIdle();
  }

  @Test
  void whatIsPostedInErrorIsFlushedAtOnce() {
    TestQp[] qp = world.pair(QpKind.RC);
    qp[0].modify(TransportState.ERR);
    qp[0].post(Post.send(1).local(source, 0, 8), Post.of(2, WorkOpcode.LOCAL_INV).unsignaled());
    receives(qp[0], 1, source, 64);
    world.run();
    assertFlushed(qp[0].sends, 0, 1, 2);
    assertFlushed(qp[0].received, 0, 100);
    assertEquals(0, a.link.sent);
  }

  @Test
  void aReceiveThatHasBegunIsFlushedFirst() {
    TestQp[] qp = world.pair(QpKind.RC, settings -> settings.mtu = 256);
    receives(qp[1], 2, target, 4096);
    a.link.filter(drop(3, requests()));
    qp[0].post(Post.send(1).local(source, 0, 1000));
    a.engine.doWork();
    b.engine.doWork();
    assertEquals(1, qp[1].receives.size());
    qp[1].modify(TransportState.ERR);
    world.run();
    assertFlushed(qp[1].received, 0, 100, 101);
  }

  @Test
  void sharedReceivesSurviveTheErrorOfOneQueuePair() {
    var shared = new TestReceives(true);
    TestQp[] one = {a.queuePair(QpKind.RC), b.queuePair(QpKind.RC, shared, false)};
    TestQp[] two = {a.queuePair(QpKind.RC), b.queuePair(QpKind.RC, shared, false)};
    world.connect(one[0], one[1], settings -> settings.mtu = 256);
    world.connect(two[0], two[1], settings -> settings.mtu = 256);
    for (int i = 0; i < 4; i++) {
      shared.post(100 + i, target, 1024L * i, 1024);
    }
    a.link.filter(drop(1, requests()));
    one[0].post(Post.send(1).local(source, 0, 500), Post.of(2, WorkOpcode.RDMA_WRITE).local(source, 0, 8));
    two[0].post(Post.send(3).local(source, 0, 500));
    world.run();
    assertEquals(1, one[1].received.size());
    assertState(TransportState.ERR, one[1]);
    assertEquals(List.of(QpEvent.LAST_WQE_REACHED, QpEvent.ACCESS_ERROR), one[1].events);
    assertDone(two[1].received, one[1].received.getFirst().id() == 100 ? 101 : 100);
    assertEquals(2, shared.size());
    two[0].post(Post.send(4).local(source, 0, 500), Post.send(5).local(source, 0, 500));
    world.run();
    assertDone(two[0].sends, 3, 4, 5);
  }

  @Test
  void drainEndsWithWhatHadBegun() {
    TestQp[] qp = world.pair(QpKind.RC, settings -> settings.notifyDrained = true);
    receives(qp[0], 1, source, 64);
    b.link.filter(hold(responses()));
    qp[0].post(Post.write(1, target, 0).local(source, 0, 3000));
    world.settle();
    qp[0].modify(TransportState.SQD);
    assertTrue(qp[0].context.isDraining());
    qp[0].post(Post.write(2, target, 0).local(source, 0, 8));
    world.settle();
    assertEquals(3, a.link.sent);
    assertEquals(List.of(), qp[0].events);
    b.link.filter(null);
    b.link.releaseHeld();
    world.run();
    assertDone(qp[0].sends, 1);
    assertEquals(List.of(QpEvent.SEND_QUEUE_DRAINED), qp[0].events);
    assertFalse(qp[0].context.isDraining());
    // The receive side goes on meanwhile.
    qp[1].post(Post.send(3).local(target, 0, 8));
    world.run();
    assertDone(qp[0].received, 100);
    qp[0].modify(TransportState.RTS);
    world.run();
    assertDone(qp[0].sends, 1, 2);
    assertEquals(1, qp[0].events.size());
  }

  @Test
  void drainOfAnIdleQueueIsDoneAtOnce() {
    TestQp[] qp = world.pair(QpKind.RC, settings -> settings.notifyDrained = true);
    qp[0].modify(TransportState.SQD);
    world.run();
    assertEquals(List.of(QpEvent.SEND_QUEUE_DRAINED), qp[0].events);
    qp[0].modify(TransportState.RTS);
    qp[0].context.settings().notifyDrained = false;
    qp[0].modify(TransportState.SQD);
    world.run();
    assertEquals(1, qp[0].events.size());
  }

  @Test
  void drainGoesOnThroughLoss() {
    TestQp[] qp = world.pair(QpKind.RC, settings -> settings.notifyDrained = true);
    a.link.filter(drop(1, requests()));
    b.link.filter(drop(1, responses()));
    qp[0].post(Post.write(1, target, 0).local(source, 0, 5000), Post.read(2, target, 0).local(source, 0, 5000));
    a.engine.doWork();
    qp[0].modify(TransportState.SQD);
    qp[0].post(Post.write(3, target, 0).local(source, 0, 8));
    world.run();
    assertDone(qp[0].sends, 1, 2);
    assertEquals(List.of(QpEvent.SEND_QUEUE_DRAINED), qp[0].events);
    qp[0].modify(TransportState.RTS);
    world.run();
    assertDone(qp[0].sends, 1, 2, 3);
  }

  @Test
  void resetForgetsEverythingWithoutCompletions() {
    TestQp[] qp = world.pair(QpKind.RC);
    receives(qp[0], 2, source, 64);
    receives(qp[1], 2, target, 64);
    b.link.filter(everything());
    qp[0].post(
        Post.write(1, target, 0).local(source, 0, 5000), Post.read(2, target, 0).local(source, 0, 8),
        Post.of(3, WorkOpcode.SEND).local(source, 0, 8).fence());
    world.settle();
    for (TestQp each : qp) {
      each.modify(TransportState.RESET);
    }
    world.run();
    assertEquals(List.of(), qp[0].sends);
    assertEquals(List.of(), qp[0].received);
    assertEquals(0, qp[0].receives.size());
    assertIdle();
    b.link.filter(null);
    receives(qp[1], 1, target, 64);
    world.connect(
        qp[0], qp[1],
        settings -> {
          settings.sendPsn = 77;
          settings.receivePsn = 77;
        });
    qp[0].post(Post.send(4).local(source, 0, 8), Post.fetchAdd(5, target, 64, 1).local(source, 0, 8));
    world.run();
    assertDone(qp[0].sends, 4, 5);
    assertDone(qp[1].received, 100);
    assertIdle();
  }

  @Test
  void aQueuePairThatFailedCanBeUsedAgainAfterReset() {
    TestQp[] qp = world.pair(QpKind.RC);
    qp[0].post(Post.of(1, WorkOpcode.RDMA_READ).local(source, 0, 8));
    world.run();
    for (TestQp each : qp) {
      assertState(TransportState.ERR, each);
      each.modify(TransportState.RESET);
    }
    world.connect(qp[0], qp[1], settings -> {});
    qp[0].post(Post.read(2, target, 0).local(source, 0, 8));
    world.run();
    assertEquals(CompletionStatus.SUCCESS, qp[0].sends.get(1).status());
    assertState(TransportState.RTS, qp[0]);
  }

  @Test
  void packetsFromElsewhereAreNotTaken() {
    TestQp[] qp = world.pair(QpKind.RC);
    TestQp other = b.queuePair(QpKind.UC);
    assertEquals(0, b.count(EngineCounter.DROPPED_NO_QP));
    qp[0].context.settings().destinationQp = other.number();
    qp[0].post(Post.write(1, target, 0).local(source, 0, 8));
    world.runFor(100_000);
    assertEquals(1, b.count(EngineCounter.DROPPED_NO_QP), "another service");
    qp[0].context.settings().destinationQp = 0xffff;
    world.runFor(300_000);
    assertEquals(2, b.count(EngineCounter.DROPPED_NO_QP), "no queue pair of this number");
    qp[0].context.settings().destinationQp = qp[1].number();
    qp[0].context.settings().pkey = 0x8001;
    world.runFor(300_000);
    assertEquals(1, b.count(EngineCounter.BAD_PKEY));
    qp[0].context.settings().pkey = 0x7fff;
    world.run();
    assertDone(qp[0].sends, 1);
  }

  @Test
  void limitedMembersOfAPartitionDoNotMeet() {
    TestQp[] qp = world.pair(QpKind.RC, settings -> settings.pkey = 0x7fff);
    qp[0].post(Post.write(1, target, 0).local(source, 0, 8));
    world.runFor(100_000);
    assertEquals(1, b.count(EngineCounter.BAD_PKEY));
  }

  @Test
  void packetsFromAnotherAddressAreNotTaken() {
    TestQp[] qp = world.pair(QpKind.RC);
    var elsewhere = world.fabric.endpoint(org.rdma4j.roce.address.Gid.parse("::ffff:192.0.2.9"));
    var link = new TestLink(elsewhere, world.trace, "c");
    byte[] ack = new byte[16];
    ack[0] = Opcode.RC_ACKNOWLEDGE;
    link.inject(link.route(org.rdma4j.roce.address.Gid.parse("::ffff:192.0.2.9"), b.gid, 0, 0, 64), ack);
    byte[] write = Packets.write(qp[1].number(), 0, target.address(0), target.key(), 4).bytes();
    link.inject(link.route(org.rdma4j.roce.address.Gid.parse("::ffff:192.0.2.9"), b.gid, 0, 0, 64), write);
    world.run();
    assertEquals(2, b.count(EngineCounter.DROPPED_NO_QP));
    assertEquals(0, qp[1].context.receivePsn());
    link.close();
  }

  @Test
  void aDestroyedQueuePairIsNotCalledAnyMore() {
    TestQp[] qp = world.pair(QpKind.RC);
    qp[0].post(Post.write(1, target, 0).local(source, 0, 8));
    a.engine.destroy(qp[0].context);
    qp[1].post(Post.write(2, source, 0).local(target, 0, 8));
    world.run();
    assertEquals(List.of(), qp[0].sends);
    assertEquals(CompletionStatus.RETRY_EXCEEDED, qp[1].sends.getFirst().status());
    assertEquals(0, a.engine.queuePairs());
    a.queuePairs.clear();
    assertIdle();
  }

  @Test
  void numbersAreUnique() {
    var profile = new QpProfile(99, QpKind.RC, 1, false, 1, 1, 1);
    new TestQp(a, profile, new TestReceives(false));
    assertThrows(IllegalArgumentException.class, () -> new TestQp(a, profile, new TestReceives(false)));
  }

  @Test
  void thousandsOfQueuePairsComeAndGo() {
    TestQp[] qps = new TestQp[3000];
    for (int i = 0; i < qps.length; i++) {
      qps[i] = a.queuePair(QpKind.RC);
    }
    for (int i = 0; i < qps.length; i += 2) {
      a.engine.destroy(qps[i].context);
    }
    assertEquals(1500, a.engine.queuePairs());
    for (int i = 0; i < qps.length; i += 2) {
      new TestQp(a, new QpProfile(qps[i].number(), QpKind.RC, 1, false, 1, 1, 1), new TestReceives(false));
    }
    assertEquals(3000, a.engine.queuePairs());
    a.queuePairs.clear();
  }

  @Test
  void resetWhenEverythingPostedHasBeenSent() {
    TestQp[] qp = world.pair(QpKind.RC);
    b.link.filter(everything());
    qp[0].post(Post.write(1, target, 0).local(source, 0, 8), Post.write(2, target, 0).local(source, 0, 8));
    world.settle();
    qp[0].modify(TransportState.RESET);
    qp[1].modify(TransportState.RESET);
    assertEquals(2, qp[0].released);
    b.link.filter(null);
    world.connect(qp[0], qp[1], settings -> {});
    qp[0].post(Post.write(3, target, 0).local(source, 0, 8));
    world.run();
    assertDone(qp[0].sends, 3);
    assertIdle();
  }

  @Test
  void brokenMemoryStopsOneQueuePairOnly() {
    TestQp[] bad = world.pair(QpKind.RC);
    TestQp[] good = world.pair(QpKind.RC);
    TestMemory broken = a.memory(64);
    broken.broken = true;
    bad[0].post(Post.write(1, target, 0).local(broken, 0, 8));
    good[0].post(Post.write(2, target, 0).local(source, 0, 8));
    world.run();
    assertFlushed(bad[0].sends, 0, 1);
    assertEquals(List.of(QpEvent.FATAL), bad[0].events);
    assertEquals(1, bad[0].errors);
    assertDone(good[0].sends, 2);
    assertEquals(1, a.faults.size());
    assertEquals(1, a.count(EngineCounter.FAULTS));
    a.faults.clear();
  }

  @Test
  void brokenMemoryOfTheResponderStopsOneQueuePairOnly() {
    TestMemory broken = b.memory(64);
    TestQp[] good = world.pair(QpKind.RC);
    broken.broken = true;
    for (Post post : List.of(Post.write(1, broken, 0), Post.read(1, broken, 0), Post.fetchAdd(1, broken, 0, 1))) {
      TestQp[] bad = world.pair(QpKind.RC);
      bad[0].post(post.local(source, 0, 8));
      good[0].post(Post.read(2, target, 0).local(source, 0, 8));
      world.run();
      assertEquals(CompletionStatus.RETRY_EXCEEDED, bad[0].sends.getFirst().status());
      assertEquals(List.of(QpEvent.FATAL), bad[1].events);
    }
    assertDone(good[0].sends, 2, 2, 2);
    assertEquals(3, b.count(EngineCounter.FAULTS));
    b.faults.clear();
  }

  @Test
  void aHostMayDestroyQueuePairsWhileTimersExpire() {
    TestQp[] one = world.pair(QpKind.RC, settings -> settings.retryCount = 0);
    TestQp[] two = world.pair(QpKind.RC, settings -> settings.retryCount = 0);
    TestQp[] three = world.pair(QpKind.RC, settings -> settings.retryCount = 0);
    a.link.filter(everything());
    for (TestQp[] qp : List.of(one, two, three)) {
      qp[0].onError =
          () -> {
            for (TestQp[] other : List.of(one, two, three)) {
              if (other != qp) {
                a.engine.destroy(other[0].context);
              }
            }
          };
      qp[0].post(Post.write(1, target, 0).local(source, 0, 8));
    }
    world.run();
    assertEquals(1, one[0].sends.size() + two[0].sends.size() + three[0].sends.size());
    assertEquals(Long.MAX_VALUE, a.engine.nextDeadline());
    a.queuePairs.clear();
  }

  @Test
  void anErrorEndsTheDrainWithoutItsEvent() {
    TestQp[] qp = world.pair(QpKind.RC, settings -> settings.notifyDrained = true);
    a.link.filter(everything());
    qp[0].post(Post.write(1, target, 0).local(source, 0, 8));
    world.settle();
    qp[0].modify(TransportState.SQD);
    world.run();
    assertEquals(CompletionStatus.RETRY_EXCEEDED, qp[0].sends.getFirst().status());
    assertEquals(List.of(), qp[0].events);
    assertFalse(qp[0].context.isDraining());
  }

  @Test
  void lastWqeIsReportedHoweverTheErrorCame() {
    var shared = new TestReceives(true);
    TestQp[] qp = {a.queuePair(QpKind.RC), b.queuePair(QpKind.RC, shared, false)};
    world.connect(qp[0], qp[1], settings -> {});
    qp[1].modify(TransportState.ERR);
    qp[1].modify(TransportState.ERR);
    world.run();
    assertEquals(List.of(QpEvent.LAST_WQE_REACHED), qp[1].events);
  }

  @Test
  void savedAtomicsSurviveADrain() {
    TestQp[] qp = world.pair(QpKind.RC);
    b.link.filter(drop(0, responses()));
    qp[0].post(Post.fetchAdd(1, target, 0, 5).local(source, 0, 8));
    world.settle();
    qp[1].modify(TransportState.SQD);
    qp[1].context.resizeReplies();
    world.run();
    assertDone(qp[0].sends, 1);
    assertEquals(5, word(target, 0));
  }

  @Test
  void aHostThatThrowsWhenATimerExpiresStopsItsQueuePairOnly() {
    TestQp[] bad = world.pair(QpKind.RC, settings -> settings.retryCount = 0);
    TestQp[] good = world.pair(QpKind.RC, settings -> settings.retryCount = 1);
    bad[0].onError =
        () -> {
          throw new UnsupportedOperationException("host");
        };
    a.link.filter(drop(0, requests()));
    good[0].post(Post.write(1, target, 0).local(source, 0, 8));
    a.engine.doWork();
    a.link.filter(everything());
    bad[0].post(Post.write(1, target, 0).local(source, 0, 8));
    a.engine.doWork();
    a.link.filter(null);
    world.run();
    assertDone(good[0].sends, 1);
    assertState(TransportState.ERR, bad[0]);
    assertEquals(1, bad[0].sends.size());
    assertEquals(List.of(QpEvent.FATAL), bad[0].events);
    assertEquals(1, a.faults.size());
    a.faults.clear();
  }
}
