package org.rdma4j.rxe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.rdma4j.ib.core.verbs.AsyncEvent;
import org.rdma4j.ib.core.verbs.AsyncEventType;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.PostException;
import org.rdma4j.ib.core.verbs.QpAttributes;
import org.rdma4j.ib.core.verbs.QpCapabilities;
import org.rdma4j.ib.core.verbs.QpInitAttributes;
import org.rdma4j.ib.core.verbs.QpState;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.QueuePair;
import org.rdma4j.ib.core.verbs.ReceiveWorkRequest;
import org.rdma4j.ib.core.verbs.SendFlag;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.SharedReceiveQueue;
import org.rdma4j.ib.core.verbs.SrqInitAttributes;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.ib.core.verbs.WorkCompletion;
import org.rdma4j.roce.address.PathMtu;

class SharedReceiveQueueTest {
  private static final int BYTES = 5000;
  private TestLink link;
  private End owner;
  private SharedReceiveQueue srq;

  @BeforeEach
  void open() {
    link = TestLink.open("rxe0");
    owner = new End(link, QpType.RC, 4 * BYTES);
    srq = owner.pd.createSrq(new SrqInitAttributes(5, 2));
  }

  @AfterEach
  void close() {
    owner.close();
    link.close();
  }

  private QueuePair member() {
    return owner.pd.createQp(
        new QpInitAttributes(QpType.RC)
            .sendCq(owner.cq)
            .recvCq(owner.cq)
            .srq(srq)
            .capabilities(new QpCapabilities(4, 0, 1, 0, 0)));
  }

  private void post(long id) {
    srq.postReceive(
        new ReceiveWorkRequest().wrId(id).addSge(owner.region.address() + id * BYTES, BYTES, owner.region.lkey()));
  }

  @Test
  void severalQueuePairsTakeFromIt() {
    try (End one = new End(link, QpType.RC, BYTES);
        End two = new End(link, QpType.RC, BYTES)) {
      QueuePair first = member();
      QueuePair second = member();
      one.connect(link.gid, first.number(), PathMtu.MTU_1024);
      two.connect(link.gid, second.number(), PathMtu.MTU_1024);
      End.connect(first, link.gid, owner.sgidIndex(), one.qp.number(), PathMtu.MTU_1024);
      End.connect(second, link.gid, owner.sgidIndex(), two.qp.number(), PathMtu.MTU_1024);
      srq.modifyLimit(1);
      post(0);
      post(1);
      send(one, 10);
      assertReceived(0, first, 10);
      assertNull(owner.context.getAsyncEvent(Duration.ofMillis(20)), "one is left, which is the limit");
      send(two, 11);
      assertReceived(1, second, 11);
      AsyncEvent event = owner.context.getAsyncEvent(Duration.ofSeconds(20));
      assertEquals(AsyncEventType.SRQ_LIMIT_REACHED, event.type());
      assertEquals(srq, event.element());
      assertEquals(0, srq.query().limit(), "the limit is disarmed");
      first.modify(new QpAttributes().state(QpState.ERR));
      event = owner.context.getAsyncEvent(Duration.ofSeconds(20));
      assertEquals(AsyncEventType.QP_LAST_WQE_REACHED, event.type());
      assertEquals(first, event.element());
    }
  }

  private void send(End end, int seed) {
    end.fill(0, BYTES, seed);
    end.qp.postSend(new SendWorkRequest().addSge(end.region.address(), BYTES, end.region.lkey()));
  }

  private void assertReceived(long id, QueuePair qp, int seed) {
    WorkCompletion received = owner.nextSuccess();
    assertEquals(id, received.wrId());
    assertEquals(qp.number(), received.qpNumber());
    owner.verify(id * BYTES, BYTES, seed);
  }

  @Test
  void postingObeysItsSize() {
    assertEquals(7, srq.query().maxWr(), "rounded up to what the ring holds");
    assertTrue(srq.srqNumber() >= Limits.FIRST_SRQ);
    for (int i = 0; i < 7; i++) {
      srq.postReceive(new ReceiveWorkRequest().wrId(i));
    }
    PostException e = assertThrows(PostException.class, () -> srq.postReceive(new ReceiveWorkRequest()));
    assertEquals(Errno.ENOMEM, e.errno());
    ReceiveWorkRequest large = new ReceiveWorkRequest().addSge(0, 1, 1).addSge(0, 1, 1).addSge(0, 1, 1);
    e = assertThrows(PostException.class, () -> srq.postReceive(large));
    assertEquals(Errno.EINVAL, e.errno());
  }

  @Test
  void resizingLosesNoReceiveThatIsBeingPosted() throws Exception {
    int count = 3000;
    SharedReceiveQueue queue = owner.pd.createSrq(new SrqInitAttributes(count, 1));
    try (End sender = new End(link, QpType.RC, BYTES);
        ExecutorService threads = Executors.newFixedThreadPool(2)) {
      QueuePair qp =
          owner.pd.createQp(
              new QpInitAttributes(QpType.RC)
                  .sendCq(owner.cq)
                  .recvCq(owner.cq)
                  .srq(queue)
                  .capabilities(new QpCapabilities(4, 0, 1, 0, 0)));
      sender.connect(link.gid, qp.number(), PathMtu.MTU_1024);
      End.connect(qp, link.gid, owner.sgidIndex(), sender.qp.number(), PathMtu.MTU_1024);
      AtomicBoolean done = new AtomicBoolean();
      Future<?> poster =
          threads.submit(
              () -> {
                for (int i = 0; i < count; i++) {
                  queue.postReceive(new ReceiveWorkRequest().wrId(i));
                }
              });
      Future<?> resizer =
          threads.submit(
              () -> {
                for (int size = 2 * count; !done.get(); size = size == count ? 2 * count : count) {
                  queue.resize(size);
                }
              });
      for (int i = 0; i < count; i++) {
        sender.qp.postSend(new SendWorkRequest().flags(SendFlag.SIGNALED));
        assertEquals(i, owner.nextSuccess().wrId());
        sender.nextSuccess();
      }
      done.set(true);
      poster.get();
      resizer.get();
      for (int i = 0; i < 8; i++) {
        queue.postReceive(new ReceiveWorkRequest());
      }
      VerbsException e = assertThrows(VerbsException.class, () -> queue.resize(3));
      assertEquals(Errno.EINVAL, e.errno());
    }
  }

  @Test
  void aMemberTakesNoReceivesOfItsOwn() {
    QueuePair member = member();
    VerbsException e = assertThrows(VerbsException.class, () -> member.postReceive(new ReceiveWorkRequest()));
    assertEquals(Errno.EINVAL, e.errno());
    assertThrows(VerbsException.class, srq::destroy, "a member uses it");
    member.destroy();
    srq.destroy();
    PostException late = assertThrows(PostException.class, () -> srq.postReceive(new ReceiveWorkRequest()));
    assertEquals(Errno.EIO, late.errno());
  }
}
