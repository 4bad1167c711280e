package org.rdma4j.ib.core.internal.mad;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.rdma4j.ib.core.mad.MadAddress;
import org.rdma4j.ib.core.mad.MadAgent;
import org.rdma4j.ib.core.mad.MadHeader;
import org.rdma4j.ib.core.mad.MadReceiver;
import org.rdma4j.ib.core.mad.MadRegistration;
import org.rdma4j.ib.core.mad.MadSend;
import org.rdma4j.ib.core.mad.ReceivedMad;
import org.rdma4j.ib.core.verbs.AhAttributes;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.roce.address.Gid;

/** The MAD layer of a port under a clock that the test holds, over a wire that is a list. */
class MadEngineTest {
  private static final int DEPTH = 2;
  private static final int CLASS = 0x04;
  private static final MadAddress PEER = new MadAddress(new AhAttributes(1, Gid.parse("::ffff:192.0.2.2"), 0), 0);
  private static final MadRegistration CM =
      new MadRegistration(MadHeader.CLASS_CM, MadHeader.CLASS_VERSION_CM, Set.of(MadHeader.METHOD_SEND));

  private final List<PendingMad> wire = new ArrayList<>();
  private final List<String> told = new ArrayList<>();
  private boolean broken;
  private boolean current = true;
  private long now;
  private final MadEngine engine =
      new MadEngine(
          new MadEngine.Wire() {
            @Override
            public void post(PendingMad mad) {
              if (broken) {
                throw new VerbsException(Errno.EINVAL, "broken on purpose");
              }
              wire.add(mad);
            }

            @Override
            public MadAddress back(ReceivedMad mad) {
              return PEER;
            }

            @Override
            public void wake() {}

            @Override
            public boolean isCurrent() {
              return current;
            }
          },
          DEPTH,
          () -> now);

  private final MadReceiver receiver =
      (mad, asked) -> told.add("received " + MadHeader.TRANSACTION_ID.get(mad.mad()) + " " + asked.isPresent());
  private final MadAgent agent = engine.register(CM, receiver);

  private MemorySegment mad(int method, int number) {
    MemorySegment mad = MemorySegment.ofArray(new byte[MadHeader.MAD_BYTES]);
    MadHeader.BASE_VERSION.set(mad, 1);
    MadHeader.MANAGEMENT_CLASS.set(mad, CLASS);
    MadHeader.CLASS_VERSION.set(mad, 1);
    MadHeader.METHOD.set(mad, method);
    MadHeader.TRANSACTION_ID.set(mad, (long) agent.highTransactionId() << 32 | number);
    return mad;
  }

  private long transaction(int number) {
    return (long) agent.highTransactionId() << 32 | number;
  }

  private MadSend send(int number, long milliseconds, int retries) {
    return agent.send(
        mad(MadHeader.METHOD_GET, number), PEER, milliseconds, retries,
        (send, status) -> told.add("sent " + number + " " + status));
  }

  private void leaves(int index) {
    engine.sent(wire.get(index), WcStatus.SUCCESS);
    engine.runCalls();
  }

  private void comes(MemorySegment mad) {
    Gid any = Gid.parse("::ffff:192.0.2.2");
    engine.received(new ReceivedMad(mad, 1, 0, any, any, 0, 0, 64));
    engine.runCalls();
  }

  private void at(long time) {
    now = time;
    engine.expire();
    engine.runCalls();
  }

  @Test
  void whatNeedsNoAnswerIsDoneWhenItLeft() {
    send(1, 0, 0);
    assertEquals(List.of(), told);
    leaves(0);
    assertEquals(List.of("sent 1 SUCCESS"), told);
    assertEquals(-1, engine.nextDeadline());
  }

  @Test
  void anAnswerComesBeforeTheWordThatItWasSent() {
    send(7, 100, 3);
    leaves(0);
    assertEquals(100, engine.nextDeadline());
    comes(mad(MadHeader.METHOD_GET_RESP, 7));
    assertEquals(List.of("received " + transaction(7) + " true", "sent 7 SUCCESS"), told);
    comes(mad(MadHeader.METHOD_GET_RESP, 7));
    assertEquals(2, told.size(), "the second answer is nobody's");
  }

  @Test
  void anAnswerMayOvertakeTheCompletion() {
    send(7, 100, 3);
    comes(mad(MadHeader.METHOD_GET_RESP, 7));
    assertEquals(1, told.size());
    leaves(0);
    assertEquals("sent 7 SUCCESS", told.get(1));
    assertEquals(-1, engine.nextDeadline());
  }

  @Test
  void withoutAnAnswerItIsSentAgainAndThenGivenUp() {
    MadSend sent = send(5, 100, 2);
    leaves(0);
    at(99);
    assertEquals(1, wire.size());
    at(100);
    assertEquals(2, wire.size());
    leaves(1);
    assertEquals(200, engine.nextDeadline());
    at(200);
    leaves(2);
    assertEquals(2, sent.retried());
    at(299);
    assertEquals(List.of(), told);
    at(300);
    assertEquals(List.of("sent 5 RESP_TIMEOUT_ERR"), told);
    assertEquals(3, wire.size());
  }

  @Test
  void anotherWait() {
    MadSend sent = send(5, 100, 1);
    leaves(0);
    now = 50;
    sent.timeout(1000);
    assertEquals(1050, engine.nextDeadline());
    at(1050);
    leaves(1);
    assertEquals(2050, engine.nextDeadline());
    sent.timeout(0);
    engine.runCalls();
    assertEquals(List.of("sent 5 WR_FLUSH_ERR"), told);
  }

  @Test
  void whatDoesNotFitWaitsInOrder() {
    for (int i = 1; i <= 5; i++) {
      send(i, 0, 0);
    }
    assertEquals(DEPTH, wire.size());
    leaves(0);
    leaves(1);
    leaves(2);
    assertEquals(5, wire.size());
    for (int i = 0; i < 5; i++) {
      assertEquals(transaction(i + 1), MadHeader.TRANSACTION_ID.get(wire.get(i).mad));
    }
  }

  @Test
  void cancellingEverywhere() {
    MadSend posted = send(1, 100, 5);
    MadSend waiting = send(2, 100, 5);
    MadSend queued = send(3, 100, 5);
    leaves(1);
    assertEquals(3, wire.size());
    MadSend stillQueued = send(4, 100, 5);
    stillQueued.cancel();
    waiting.cancel();
    posted.cancel();
    engine.runCalls();
    assertEquals(List.of("sent 2 WR_FLUSH_ERR"), told);
    leaves(0);
    assertEquals("sent 1 WR_FLUSH_ERR", told.get(1));
    assertEquals(4, wire.size(), "what was cancelled before it was sent leaves once");
    leaves(3);
    assertEquals("sent 4 WR_FLUSH_ERR", told.get(2));
    posted.cancel();
    leaves(2);
    queued.cancel();
    engine.runCalls();
    assertEquals("sent 3 WR_FLUSH_ERR", told.get(3));
    assertEquals(4, told.size());
    comes(mad(MadHeader.METHOD_GET_RESP, 2));
    assertEquals(4, told.size());
  }

  @Test
  void whatCannotBePostedIsTold() {
    broken = true;
    send(1, 100, 5);
    engine.runCalls();
    assertEquals(List.of("sent 1 LOC_QP_OP_ERR"), told);
    broken = false;
    send(2, 0, 0);
    engine.sent(wire.getFirst(), WcStatus.LOC_PROT_ERR);
    engine.runCalls();
    assertEquals("sent 2 LOC_PROT_ERR", told.get(1));
  }

  @Test
  void messagesGoToWhoWantsThem() {
    MemorySegment cm = mad(MadHeader.METHOD_SEND, 9);
    MadHeader.MANAGEMENT_CLASS.set(cm, MadHeader.CLASS_CM);
    MadHeader.CLASS_VERSION.set(cm, MadHeader.CLASS_VERSION_CM);
    comes(cm);
    assertEquals(List.of("received " + transaction(9) + " false"), told);
    MadHeader.METHOD.set(cm, MadHeader.METHOD_GET);
    comes(cm);
    assertEquals(1, told.size(), "communication management has only messages");
    assertEquals(List.of(), wire);
  }

  @Test
  void whoAsksForWhatIsNotThereIsTold() {
    comes(mad(MadHeader.METHOD_SET, 3));
    assertEquals(1, wire.size());
    MemorySegment answer = wire.getFirst().mad;
    assertEquals(MadHeader.METHOD_GET_RESP, MadHeader.METHOD.getInt(answer));
    assertEquals(MadHeader.STATUS_UNSUPPORTED_METHOD_ATTRIBUTE, MadHeader.STATUS.getInt(answer));
    assertEquals(transaction(3), MadHeader.TRANSACTION_ID.get(answer));
    assertEquals(PEER, wire.getFirst().to);
    leaves(0);
    assertEquals(List.of(), told);
  }

  @Test
  void whatIsDropped() {
    comes(mad(MadHeader.METHOD_SEND, 1));
    MemorySegment version = mad(MadHeader.METHOD_GET, 1);
    MadHeader.BASE_VERSION.set(version, 2);
    comes(version);
    MemorySegment subnet = mad(MadHeader.METHOD_GET, 1);
    MadHeader.MANAGEMENT_CLASS.set(subnet, 0x81);
    comes(subnet);
    MemorySegment stranger = mad(MadHeader.METHOD_GET_RESP, 1);
    MadHeader.TRANSACTION_ID.set(stranger, 0x7777_0000_0001L);
    comes(stranger);
    assertEquals(List.of(), wire);
    assertEquals(List.of(), told);
  }

  @Test
  void registering() {
    VerbsException refused = assertThrows(VerbsException.class, () -> engine.register(CM, receiver));
    assertEquals("another agent of the port has class 0x07, version 2, method 0x03", refused.getMessage());
    List<MadRegistration> wrong =
        List.of(
            new MadRegistration(0x50, 1, Set.of(1)),
            new MadRegistration(0x01, 1, Set.of(1)),
            new MadRegistration(0x04, 0x83, Set.of(1)),
            new MadRegistration(0x04, 1, Set.of(0x81)));
    for (MadRegistration bad : wrong) {
      assertEquals(
          Errno.EINVAL, assertThrows(VerbsException.class, () -> engine.register(bad, receiver)).errno());
    }
    MadAgent other = engine.register(null, receiver);
    assertNotEquals(agent.highTransactionId(), other.highTransactionId());
    assertFalse(engine.isEmpty());
    other.close();
    agent.close();
    assertTrue(engine.isEmpty());
    engine.register(CM, receiver).close();
  }

  @Test
  void aClosedAgentHearsItsEnd() {
    send(1, 100, 1);
    leaves(0);
    send(2, 100, 1);
    agent.close();
    engine.runCalls();
    assertEquals(List.of("sent 1 WR_FLUSH_ERR"), told);
    leaves(1);
    assertEquals(List.of("sent 1 WR_FLUSH_ERR", "sent 2 WR_FLUSH_ERR"), told);
    assertEquals(Errno.ENODEV, assertThrows(VerbsException.class, () -> send(3, 0, 0)).errno());
  }

  @Test
  void aDeviceThatGoes() {
    send(1, 100, 1);
    leaves(0);
    send(2, 100, 1);
    send(3, 100, 1);
    send(4, 100, 1);
    engine.close();
    engine.runCalls();
    assertEquals(4, told.size());
    assertTrue(told.stream().allMatch(each -> each.endsWith("WR_FLUSH_ERR")), told::toString);
    leaves(1);
    assertEquals(4, told.size(), "each is told once");
    assertEquals(Errno.ENODEV, assertThrows(VerbsException.class, () -> send(5, 0, 0)).errno());
    assertEquals(
        Errno.ENODEV, assertThrows(VerbsException.class, () -> engine.register(null, receiver)).errno());
  }

  @Test
  void aHandlerThatFailsHarmsNobody() {
    MadAgent bad =
        engine.register(
            new MadRegistration(0x10, 1, Set.of(1)),
            (mad, asked) -> {
              throw new IllegalStateException("on purpose");
            });
    MemorySegment mad = mad(1, 1);
    MadHeader.MANAGEMENT_CLASS.set(mad, 0x10);
    comes(mad);
    send(1, 0, 0);
    leaves(0);
    assertEquals(List.of("sent 1 SUCCESS"), told);
    bad.close();
  }

  @Test
  void whatIsFlushedWithAnotherIsSentAgainInItsOrder() {
    MadSend given = null;
    for (int i = 1; i <= DEPTH; i++) {
      MadSend send = send(i, 100, 3);
      given = i == 2 ? send : given;
    }
    int beyond = DEPTH + 1;
    send(beyond, 0, 0);
    engine.sent(wire.get(0), WcStatus.LOC_PROT_ERR);
    given.cancel();
    wire.subList(1, DEPTH).forEach(each -> engine.sent(each, WcStatus.WR_FLUSH_ERR));
    engine.sent(wire.get(DEPTH), WcStatus.WR_FLUSH_ERR);
    engine.runCalls();
    assertEquals(List.of("sent 1 LOC_PROT_ERR", "sent 2 WR_FLUSH_ERR"), told, "the others hear nothing");
    List<PendingMad> before = List.copyOf(wire);
    wire.clear();
    engine.begunAnew();
    assertEquals(before.subList(2, DEPTH + 1), wire);
  }

  @Test
  void aDeviceThatSaysNothingHoldsNobodyUp() throws InterruptedException {
    send(1, 100, 3);
    send(2, 0, 0);
    current = false;
    Thread ends = Thread.ofPlatform().start(agent::close);
    while (ends.isAlive()) {
      engine.runCalls();
      LockSupport.parkNanos(1_000_000);
    }
    assertEquals(List.of("sent 1 WR_FLUSH_ERR", "sent 2 WR_FLUSH_ERR"), told);
    leaves(0);
    leaves(1);
    assertEquals(2, told.size(), "what comes later is told to nobody");
  }

  @Test
  void badSends() {
    MemorySegment small = MemorySegment.ofArray(new byte[255]);
    assertThrows(VerbsException.class, () -> agent.send(small, PEER, 0, 0, (send, status) -> {}));
    assertThrows(VerbsException.class, () -> send(1, -1, 0));
    assertThrows(VerbsException.class, () -> send(1, 0, -1));
    assertEquals(List.of(), wire);
  }
}
