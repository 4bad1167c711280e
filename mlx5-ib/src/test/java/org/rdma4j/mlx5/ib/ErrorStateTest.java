package org.rdma4j.mlx5.ib;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rdma4j.ib.core.verbs.AsyncEvent;
import org.rdma4j.ib.core.verbs.AsyncEventType;
import org.rdma4j.ib.core.verbs.CompletionQueue;
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
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.ib.core.verbs.WorkCompletion;
import org.rdma4j.ib.core.verbs.WrOpcode;
import org.rdma4j.roce.address.PathMtu;

/** The state that the driver tells follows the card's, as soon as something says it. */
@Timeout(120)
class ErrorStateTest {
  private static final Duration WAIT = Duration.ofSeconds(20);

  private interface Body {
    void run(End a, End b);
  }

  private static void connected(Body body) {
    try (TestHost left = new TestHost();
        TestHost right = new TestHost();
        End a = new End(left, QpType.RC, 4096);
        End b = new End(right, QpType.RC, 4096)) {
      a.connect(b, PathMtu.MTU_1024);
      b.connect(a, PathMtu.MTU_1024);
      body.run(a, b);
    }
  }

  private static SendWorkRequest write(End from, End to, long id) {
    return new SendWorkRequest()
        .wrId(id)
        .opcode(WrOpcode.RDMA_WRITE)
        .remoteAddress(to.region.address())
        .rkey(to.region.rkey())
        .addSge(from.region.address(), 8, from.region.lkey());
  }

  @Test
  void aQueueThatOverflowsTakesItsQueuePairsAlong() {
    connected(
        (a, b) -> {
          CompletionQueue small = a.context.createCq(1, null, 0);
          QueuePair qp =
              a.pd.createQp(
                  new QpInitAttributes(QpType.RC)
                      .sendCq(small)
                      .recvCq(a.cq)
                      .signalAll(true)
                      .capabilities(new QpCapabilities(16, 16, 1, 1, 0)));
          try (End c = new End(b.link, QpType.RC, 4096)) {
            End.connect(qp, b.link.gid, a.sgidIndex(), c.qp.number(), PathMtu.MTU_1024);
            c.connect(a.link.gid, qp.number(), PathMtu.MTU_1024);
            qp.postReceive(new ReceiveWorkRequest().wrId(77).addSge(a.region.address(), 8, a.region.lkey()));
            for (int i = 0; i < 6; i++) {
              qp.postSend(write(a, c, i));
            }
            AsyncEvent event = a.context.getAsyncEvent(WAIT);
            assertEquals(QpState.ERR, qp.query().state(), "after " + event);
            AsyncEvent second = a.context.getAsyncEvent(WAIT);
            AsyncEvent ofQueue = event.type() == AsyncEventType.CQ_ERR ? event : second;
            assertEquals(AsyncEventType.CQ_ERR, ofQueue.type());
            assertSame(small, ofQueue.element());
            AsyncEvent ofPair = ofQueue.equals(event) ? second : event;
            assertEquals(AsyncEventType.QP_FATAL, ofPair.type());
            assertSame(qp, ofPair.element());
            assertEquals(QpState.RTS, a.qp.query().state(), "the other has its own queue");
            WorkCompletion[] batch = WorkCompletion.batch(4);
            assertEquals(2, small.poll(batch));
            assertEquals(0, batch[0].wrId());
            assertEquals(1, batch[1].wrId());
            assertEquals(Errno.EIO, assertThrows(VerbsException.class, () -> small.poll(batch)).errno());
            assertEquals(77, a.next().wrId(), "its receive is flushed into the queue that is well");
            long begin = System.nanoTime();
            qp.close();
            assertTrue(System.nanoTime() - begin < WAIT.toNanos());
          }
          small.close();
        });
  }

  /** All that is polled is a flush, since what failed came by an event alone. */
  @Test
  void aFlushedCompletionSaysIt() {
    connected(
        (a, b) -> {
          for (int i = 0; i < 3; i++) {
            b.qp.postReceive(new ReceiveWorkRequest().wrId(i).addSge(b.region.address(), 8, b.region.lkey()));
          }
          a.qp.postSend(write(a, b, 1).rkey(b.region.rkey() ^ 0x100));
          WorkCompletion first = b.next();
          assertEquals(WcStatus.WR_FLUSH_ERR, first.status());
          assertEquals(QpState.ERR, b.qp.state());
          WorkCompletion failed = a.next();
          assertEquals(WcStatus.REM_ACCESS_ERR, failed.status());
          assertEquals(QpState.ERR, a.qp.state());
        });
  }

  /** The kernel's table of transitions has no command for it, whatever the specification says. */
  @Test
  void thereIsNoWayToDrainTheSendQueue() {
    connected(
        (a, b) -> {
          VerbsException refused =
              assertThrows(VerbsException.class, () -> a.qp.modify(new QpAttributes().state(QpState.SQD)));
          assertEquals(Errno.EINVAL, refused.errno());
          assertTrue(refused.getMessage().contains("from RTS to SQD: the card has no command"), refused.getMessage());
          assertEquals(QpState.RTS, a.qp.query().state());
          a.qp.postSend(write(a, b, 5).flags(SendFlag.SIGNALED));
          assertEquals(5, a.nextSuccess().wrId());
        });
  }
}
