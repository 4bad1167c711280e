package org.rdma4j.rxe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.rdma4j.ib.core.verbs.AsyncEvent;
import org.rdma4j.ib.core.verbs.AsyncEventType;
import org.rdma4j.ib.core.verbs.CompletionChannel;
import org.rdma4j.ib.core.verbs.CompletionQueue;
import org.rdma4j.ib.core.verbs.CqNotify;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.QpAttributes;
import org.rdma4j.ib.core.verbs.QpCapabilities;
import org.rdma4j.ib.core.verbs.QpInitAttributes;
import org.rdma4j.ib.core.verbs.QpState;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.QueuePair;
import org.rdma4j.ib.core.verbs.ReceiveWorkRequest;
import org.rdma4j.ib.core.verbs.SendFlag;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.ib.core.verbs.WorkCompletion;
import org.rdma4j.roce.address.PathMtu;

class CompletionQueueTest {
  private static final Duration WAIT = Duration.ofSeconds(20);
  private static final Duration LOOK = Duration.ofMillis(50);

  private TestLink link;
  private End a;
  private End b;

  @BeforeEach
  void open() {
    link = TestLink.open("rxe0");
    a = new End(link, QpType.RC, 1000);
    b = new End(link, QpType.RC, 1000);
  }

  @AfterEach
  void close() {
    a.close();
    b.close();
    link.close();
  }

  /** A queue pair of {@code a}'s domain whose receives complete in another queue. */
  private QueuePair receiver(CompletionQueue cq) {
    QueuePair qp =
        a.pd.createQp(
            new QpInitAttributes(QpType.RC).sendCq(cq).recvCq(cq).capabilities(new QpCapabilities(8, 64, 1, 1, 0)));
    qp.modify(new QpAttributes().state(QpState.INIT).pkeyIndex(0).port(1).access(Set.of()));
    return qp;
  }

  private void connect() {
    a.connect(b, PathMtu.MTU_1024);
    b.connect(a, PathMtu.MTU_1024);
  }

  @Test
  void armingForAnyRaisesOneEvent() {
    CompletionChannel channel = a.context.createCompletionChannel();
    CompletionQueue cq = a.context.createCq(10, channel, 0);
    QueuePair qp = receiver(cq);
    qp.postReceive(new ReceiveWorkRequest().wrId(1));
    qp.postReceive(new ReceiveWorkRequest().wrId(2));
    assertFalse(cq.requestNotify(CqNotify.NEXT_COMP, true));
    qp.modify(new QpAttributes().state(QpState.ERR));
    assertEquals(cq, channel.getEvent(WAIT));
    assertNull(channel.getEvent(LOOK), "two completions, one event");
    assertTrue(cq.requestNotify(CqNotify.NEXT_COMP, true), "completions are there");
    assertEquals(2, cq.poll(WorkCompletion.batch(4)));
    assertFalse(cq.requestNotify(CqNotify.NEXT_COMP, true));
    qp.postReceive(new ReceiveWorkRequest().wrId(3));
    assertEquals(cq, channel.getEvent(WAIT));
  }

  @Test
  void solicitedWaitsForASolicitedMessage() {
    CompletionChannel channel = b.context.createCompletionChannel();
    connect();
    CompletionQueue cq = b.context.createCq(10, channel, 0);
    try (End c = new End(link, QpType.RC, 100)) {
      QueuePair qp =
          b.pd.createQp(
              new QpInitAttributes(QpType.RC).sendCq(cq).recvCq(cq).capabilities(new QpCapabilities(8, 8, 1, 1, 0)));
      c.connect(link.gid, qp.number(), PathMtu.MTU_1024);
      End.connect(qp, link.gid, b.sgidIndex(), c.qp.number(), PathMtu.MTU_1024);
      qp.postReceive(new ReceiveWorkRequest().wrId(1));
      qp.postReceive(new ReceiveWorkRequest().wrId(2));
      cq.requestNotify(CqNotify.SOLICITED);
      c.qp.postSend(new SendWorkRequest().flags(SendFlag.SIGNALED));
      c.nextSuccess();
      assertNull(channel.getEvent(LOOK), "the message was not solicited");
      c.qp.postSend(new SendWorkRequest().flags(SendFlag.SIGNALED | SendFlag.SOLICITED));
      assertEquals(cq, channel.getEvent(WAIT));
      assertEquals(2, cq.poll(WorkCompletion.batch(4)));
    }
  }

  @Test
  void overflowFailsTheQueuePairsAndIsToldOnce() {
    CompletionQueue cq = a.context.createCq(3, null, 0);
    QueuePair qp = receiver(cq);
    QueuePair other = receiver(cq);
    int capacity = cq.entries();
    for (int i = 0; i < capacity + 2; i++) {
      qp.postReceive(new ReceiveWorkRequest().wrId(i));
    }
    qp.modify(new QpAttributes().state(QpState.ERR));
    AsyncEvent event = a.context.getAsyncEvent(WAIT);
    assertNotNull(event);
    assertEquals(AsyncEventType.CQ_ERR, event.type());
    assertEquals(cq, event.element());
    assertEquals(QpState.ERR, other.query().state(), "a queue pair of a broken queue is in error");
    WorkCompletion[] batch = WorkCompletion.batch(16);
    assertEquals(capacity, cq.poll(batch), "what was there before stays");
    for (int i = 0; i < capacity; i++) {
      assertEquals(i, batch[i].wrId());
    }
    VerbsException e = assertThrows(VerbsException.class, () -> cq.poll(batch));
    assertEquals(Errno.EIO, e.errno());
    assertEquals(2, link.device.completionsLost());
    assertNull(a.context.getAsyncEvent(LOOK));
  }

  @Test
  void pollingWithoutRoomTakesNothing() {
    WorkCompletion[] none = new WorkCompletion[0];
    assertEquals(0, a.cq.poll(none));
    assertEquals(0, a.cq.poll(WorkCompletion.batch(2), 0));
  }

  @Test
  void resizingKeepsWhatIsThere() {
    CompletionQueue cq = a.context.createCq(10, null, 0);
    QueuePair qp = receiver(cq);
    for (int i = 0; i < 10; i++) {
      qp.postReceive(new ReceiveWorkRequest().wrId(i));
    }
    qp.modify(new QpAttributes().state(QpState.ERR));
    WorkCompletion[] batch = WorkCompletion.batch(4);
    assertEquals(1, cq.poll(batch, 1));
    VerbsException e = assertThrows(VerbsException.class, () -> cq.resize(7));
    assertEquals(Errno.EINVAL, e.errno());
    cq.resize(100);
    assertEquals(127, cq.entries());
    for (int i = 1; i < 10; i++) {
      assertEquals(1, cq.poll(batch, 1));
      assertEquals(i, batch[0].wrId());
    }
    cq.resize(1);
    assertEquals(1, cq.entries());
    qp.postReceive(new ReceiveWorkRequest().wrId(20));
    while (cq.poll(batch, 1) == 0) {
      Thread.onSpinWait();
    }
    assertEquals(20, batch[0].wrId());
  }

  @Test
  void destroyedQueuesFail() {
    CompletionQueue cq = a.context.createCq(3, null, 0);
    cq.destroy();
    VerbsException e = assertThrows(VerbsException.class, () -> cq.poll(WorkCompletion.batch(1)));
    assertEquals(Errno.EINVAL, e.errno());
    assertThrows(VerbsException.class, () -> cq.requestNotify(CqNotify.NEXT_COMP));
  }
}
