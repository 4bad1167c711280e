package org.rdma4j.roce.engine;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rdma4j.roce.link.FaultPlan;
import org.rdma4j.roce.packet.Opcode;

/** Extended reliable connections: initiators, targets, and the shared queues their requests name (IBA annex A14). */
class ExtendedConnectionTest extends EngineTest {
  private static final int FIRST = 0x20001;
  private static final int SECOND = 0x20002;

  /** A shared receive queue of b with a protection domain and a completion queue of its own. */
  private static final class Queue implements XrcReceiveSource {
    final TestReceives receives = new TestReceives(true);
    final List<Done> done = new ArrayList<>();
    final int domain;

    Queue(int domain) {
      this.domain = domain;
    }

    @Override
    public boolean take(ReceiveWork work) {
      return receives.take(work);
    }

    @Override
    public int protectionDomain() {
      return domain;
    }

    @Override
    public void completeReceive(Completion completion, boolean solicited) {
      done.add(Done.of(completion, solicited));
    }
  }

  private final Queue first = new Queue(11);
  private final Queue second = new Queue(12);
  private final TestMemory source = a.memory(1 << 14);
  private final TestMemory target = b.register(memory(), 11, TestMemory.ALL);
  private final TestMemory other = b.register(memory(), 12, TestMemory.ALL);
  private final TestQp[] qp = connect();

  private static MemorySegment memory() {
    return Arena.ofAuto().allocate(1 << 14, 8);
  }

  private TestQp[] connect() {
    TestQp[] pair = {a.queuePair(QpKind.XRC_INI), b.queuePair(QpKind.XRC_TGT)};
    world.connect(pair[0], pair[1], settings -> settings.mtu = 256);
    b.xrcQueues.put(FIRST, first);
    b.xrcQueues.put(SECOND, second);
    return pair;
  }

  @Test
  void eachRequestGoesToTheQueueItNames() {
    fill(source, 1);
    first.receives.post(100, target, 0, 1024);
    second.receives.post(200, other, 0, 1024);
    first.receives.post(101, target, 1024, 1024);
    qp[0].post(
        Post.send(1).local(source, 0, 700).srq(SECOND),
        Post.of(2, WorkOpcode.SEND_WITH_IMM).local(source, 1000, 600).immediate(5).srq(FIRST).solicited(),
        Post.of(3, WorkOpcode.RDMA_WRITE_WITH_IMM).remote(target, 4096).local(source, 0, 300).immediate(6).srq(FIRST));
    world.run();
    assertDone(qp[0].sends, 1, 2, 3);
    assertDone(second.done, 200);
    assertDone(first.done, 100, 101);
    assertSame(source, 0, other, 0, 700);
    assertSame(source, 1000, target, 0, 600);
    assertSame(source, 0, target, 4096, 300);
    Done done = first.done.getFirst();
    assertEquals(5, done.immediate());
    assertEquals(qp[0].number(), done.sourceQp(), "the initiator");
    assertTrue(done.solicited());
    assertEquals(List.of(), qp[1].received);
    assertIdle();
  }

  @Test
  void byItsBytes() {
    List<String> sent = new ArrayList<>();
    List<String> answered = new ArrayList<>();
    a.link.filter(
        (packet, at, length) -> {
          sent.add(HexFormat.of().formatHex(packet.asSlice(at, length).toArray(JAVA_BYTE)));
          return TestLink.Fate.PASS;
        });
    b.link.filter(
        (packet, at, length) -> {
          answered.add(HexFormat.of().formatHex(packet.asSlice(at, length).toArray(JAVA_BYTE)));
          return TestLink.Fate.PASS;
        });
    first.receives.post(100, target, 0, 1024);
    qp[0].post(
        Post.send(1).local(source, 0, 4).srq(FIRST),
        Post.read(2, target, 0).local(source, 0, 4).srq(FIRST),
        Post.fetchAdd(3, target, 8, 1).local(source, 8, 8).srq(FIRST));
    world.run();
    assertDone(qp[0].sends, 1, 2, 3);
    HexFormat hex = HexFormat.of();
    String to = hex.toHexDigits(qp[1].number(), 8);
    String reth = hex.toHexDigits(target.address(0), 16) + hex.toHexDigits((long) target.key(), 8) + "00000004";
    String atomic = hex.toHexDigits(target.address(8), 16) + hex.toHexDigits((long) target.key(), 8);
    assertEquals(
        List.of(
            "a400ffff" + to + "80000000" + "00020001" + "00000000",
            "ac00ffff" + to + "80000001" + "00020001" + reth,
            "b400ffff" + to + "80000002" + "00020001" + atomic + "0000000000000001" + "0000000000000000"),
        sent);
    assertEquals(
        List.of("b0", "b2"), answered.stream().map(each -> each.substring(0, 2)).toList(),
        "a READ response, which acknowledges the SEND too, and an atomic acknowledge");
  }

  @Test
  void readsAndAtomicsAreOfTheDomainOfTheQueue() {
    word(other, 0, 40);
    qp[0].post(
        Post.fetchAdd(1, other, 0, 2).local(source, 0, 8).srq(SECOND),
        Post.read(2, other, 0).local(source, 8, 8).srq(SECOND),
        Post.atomicWrite(3, other, 16).local(source, 8, 8).srq(SECOND).fence(),
        Post.flush(4, other, 0, 64, 1).srq(SECOND),
        Post.of(5, WorkOpcode.SEND_WITH_INV).immediate(0x99).srq(SECOND));
    second.receives.post(200, other, 0, 64);
    world.run();
    assertDone(qp[0].sends, 1, 2, 3, 4, 5);
    assertEquals(40, word(source, 0));
    assertEquals(42, word(source, 8));
    assertEquals(42, word(other, 16));
    assertEquals(12, qp[1].invalidatedIn);
    assertIdle();
  }

  @Test
  void memoryOfAnotherDomainIsRefused() {
    qp[0].post(Post.write(1, target, 0).local(source, 0, 8).srq(SECOND), Post.send(2).srq(SECOND));
    world.run();
    assertFailed(
        qp[0].sends.getFirst(), 1, CompletionStatus.REMOTE_ACCESS_ERROR, FailedCheck.NAK_REMOTE_ACCESS);
    assertFlushed(qp[0].sends, 1, 2);
    assertEquals(List.of(QpEvent.LAST_WQE_REACHED, QpEvent.ACCESS_ERROR), qp[1].events);
    assertUntouched(target, 0, 64);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 0x20003, 0xffffff})
  void aQueueThatIsNotOfTheDomainIsRefused(int number) {
    qp[0].post(Post.send(1).local(source, 0, 8).srq(number), Post.send(2).srq(FIRST));
    world.run();
    assertFailed(
        qp[0].sends.getFirst(), 1, CompletionStatus.REMOTE_INVALID_REQUEST, FailedCheck.NAK_INVALID_REQUEST);
    assertFlushed(qp[0].sends, 1, 2);
    assertState(TransportState.ERR, qp[1]);
    assertEquals(List.of(QpEvent.LAST_WQE_REACHED, QpEvent.ACCESS_ERROR), qp[1].events);
  }

  @Test
  void aMessageThatChangesItsQueueIsRefused() {
    first.receives.post(100, target, 0, 1024);
    second.receives.post(200, other, 0, 1024);
    int number = qp[1].number();
    a.link.inject(a.routeTo(b), Packets.of(Opcode.XRC_SEND_FIRST, number, 0, 256).xrceth(FIRST).bytes());
    a.link.inject(a.routeTo(b), Packets.of(Opcode.XRC_SEND_LAST, number, 1, 8).xrceth(SECOND).bytes());
    world.settle();
    assertState(TransportState.ERR, qp[1]);
    assertFailed(
        first.done.getFirst(), 100, CompletionStatus.REMOTE_INVALID_REQUEST, FailedCheck.XRC_SRQ);
    assertEquals(1, second.receives.size());
  }

  @Test
  void receiverNotReadyIsOfTheQueue() {
    second.receives.post(200, other, 0, 64);
    qp[0].post(Post.send(1).local(source, 0, 8).srq(FIRST), Post.send(2).local(source, 0, 8).srq(SECOND));
    world.settle();
    assertEquals(List.of(), qp[0].sends);
    assertEquals(1, b.count(EngineCounter.SEND_RNR_ERR));
    first.receives.post(100, target, 0, 64);
    world.run();
    assertDone(qp[0].sends, 1, 2);
    assertDone(first.done, 100);
    assertDone(second.done, 200);
    assertIdle();
  }

  @Test
  void severalInitiatorsShareAQueue() {
    TestQp[] more = connect();
    for (int i = 0; i < 4; i++) {
      first.receives.post(100 + i, target, 64L * i, 64);
    }
    qp[0].post(Post.send(1).local(source, 0, 8).srq(FIRST), Post.send(2).local(source, 0, 8).srq(FIRST));
    more[0].post(Post.send(3).local(source, 0, 8).srq(FIRST), Post.send(4).local(source, 0, 8).srq(FIRST));
    world.run();
    assertDone(qp[0].sends, 1, 2);
    assertDone(more[0].sends, 3, 4);
    assertDone(first.done, 100, 101, 102, 103);
    assertEquals(2, first.done.stream().filter(done -> done.sourceQp() == more[0].number()).count());
  }

  @Test
  void lossAndDuplicationAreMadeGood() {
    fill(source, 6);
    world.fabric.faults(FaultPlan.NONE.withLoss(0.1).withDuplication(0.2));
    for (int i = 0; i < 20; i++) {
      first.receives.post(100 + i, target, 512L * i, 512);
      qp[0].post(Post.send(2L * i).local(source, 512L * i, 512).srq(FIRST));
      qp[0].post(Post.fetchAdd(2L * i + 1, other, 0, 1).local(source, 16_376, 8).srq(SECOND));
    }
    world.run();
    assertEquals(40, qp[0].sends.size());
    assertTrue(qp[0].sends.stream().allMatch(done -> done.status() == CompletionStatus.SUCCESS));
    assertEquals(20, first.done.size());
    assertEquals(20, word(other, 0), "each atomic once");
    assertSame(source, 0, target, 0, 20 * 512);
    assertIdle();
  }

  @Test
  void errorGivesTheHeldReceiveBackAndLeavesTheQueueAlone() {
    first.receives.post(100, target, 0, 1024);
    first.receives.post(101, target, 1024, 1024);
    a.link.filter(drop(1, requests()));
    qp[0].post(Post.send(1).local(source, 0, 700).srq(FIRST));
    a.engine.doWork();
    b.engine.doWork();
    assertEquals(1, first.receives.size());
    qp[1].modify(TransportState.ERR);
    assertFlushed(first.done, 0, 100);
    assertEquals(List.of(QpEvent.LAST_WQE_REACHED), qp[1].events);
    qp[0].modify(TransportState.ERR);
    assertFlushed(qp[0].sends, 0, 1);
    assertEquals(List.of(), qp[0].events, "an initiator has no receives");
    assertEquals(1, first.receives.size());
  }

  @Test
  void initiatorsTakeNoRequestsAndTargetsNoResponses() {
    long dropped = a.count(EngineCounter.DROPPED_NO_QP);
    b.link.inject(b.routeTo(a), Packets.of(Opcode.XRC_SEND_ONLY, qp[0].number(), 0, 8).xrceth(FIRST).bytes());
    b.link.inject(b.routeTo(a), Packets.of(Opcode.RC_ACKNOWLEDGE, qp[0].number(), 0, 0).bytes());
    a.link.inject(a.routeTo(b), Packets.of(Opcode.XRC_ACKNOWLEDGE, qp[1].number(), 0, 0).bytes());
    world.settle();
    assertEquals(dropped + 2, a.count(EngineCounter.DROPPED_NO_QP));
    assertEquals(1, b.count(EngineCounter.DROPPED_NO_QP));
    assertState(TransportState.RTS, qp[0]);
    assertState(TransportState.RTS, qp[1]);
  }

  @Test
  void aTargetSendsFromReadyToReceiveOn() {
    TestQp[] pair = {a.queuePair(QpKind.XRC_INI), b.queuePair(QpKind.XRC_TGT)};
    world.prepare(pair[0], pair[1], settings -> { });
    world.prepare(pair[1], pair[0], settings -> { });
    for (TransportState state : List.of(TransportState.INIT, TransportState.RTR)) {
      pair[1].modify(state);
      pair[0].modify(state);
    }
    pair[0].modify(TransportState.RTS);
    first.receives.post(100, target, 0, 64);
    pair[0].post(Post.send(1).local(source, 0, 8).srq(FIRST));
    world.run();
    assertDone(pair[0].sends, 1);
    assertEquals(List.of(QpEvent.COMMUNICATION_ESTABLISHED), pair[1].events);
  }

  @Test
  void whatFailsAtTheInitiatorEndsIt() {
    qp[0].post(Post.send(1).sge(source.address(0), 8, 0x77).srq(FIRST));
    world.run();
    assertState(TransportState.ERR, qp[0]);
    assertEquals(0, qp[0].sendErrors, "the send queue of a reliable service does not fail alone");
  }

  @Test
  void anInitiatorDrains() {
    qp[0].context.settings().notifyDrained = true;
    b.link.filter(hold(responses()));
    qp[0].post(Post.write(1, target, 0).local(source, 0, 600).srq(FIRST));
    world.settle();
    qp[0].modify(TransportState.SQD);
    qp[0].post(Post.write(2, target, 0).local(source, 0, 8).srq(FIRST));
    world.settle();
    assertEquals(List.of(), qp[0].events);
    b.link.filter(null);
    b.link.releaseHeld();
    world.run();
    assertDone(qp[0].sends, 1);
    assertEquals(List.of(QpEvent.SEND_QUEUE_DRAINED), qp[0].events);
  }
}
