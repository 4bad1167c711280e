package org.rdma4j.mlx5.ib;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rdma4j.ib.core.verbs.CompletionQueue;
import org.rdma4j.ib.core.verbs.DeviceLimit;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.ReceiveWorkRequest;
import org.rdma4j.ib.core.verbs.SendFlag;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.ib.core.verbs.WcOpcode;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.ib.core.verbs.WorkCompletion;
import org.rdma4j.mlx5.ifc.CommandStatus;
import org.rdma4j.mlx5.ifc.Opcode;
import org.rdma4j.roce.address.PathMtu;

/** Completion queues change their size: with entries in them, under traffic, and not when the card refuses. */
@Timeout(120)
class CqResizeTest {
  private static final int BYTES = 32;
  private static final int MESSAGES = 20_000;
  private static final int[] SIZES = {1000, 150, 4000, 255, 256, 127, 2000};

  private interface Body {
    void run(TestHost left, End a, End b);
  }

  private static void connected(Body body) {
    try (TestHost left = new TestHost();
        TestHost right = new TestHost();
        End a = new End(left, QpType.RC, 4096);
        End b = new End(right, QpType.RC, 4096)) {
      a.connect(b, PathMtu.MTU_1024);
      b.connect(a, PathMtu.MTU_1024);
      body.run(left, a, b);
    }
  }

  private static SendWorkRequest send(End end, long id) {
    return new SendWorkRequest()
        .wrId(id)
        .flags(SendFlag.SIGNALED)
        .addSge(end.region.address(), BYTES, end.region.lkey());
  }

  private static ReceiveWorkRequest receive(End end, long id) {
    return new ReceiveWorkRequest().wrId(id).addSge(end.region.address(), BYTES, end.region.lkey());
  }

  /** Sends that are done and not polled. */
  private static void leave(End a, End b, int from, int count) {
    for (int i = from; i < from + count; i++) {
      b.qp.postReceive(receive(b, i));
      a.qp.postSend(send(a, i));
      b.nextSuccess();
    }
    b.qp.postReceive(receive(b, 0));
    a.qp.postSend(send(a, from + count));
    b.nextSuccess();
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
    while (!((IbCompletionQueue) a.cq).hasAllSends((IbQueuePair) a.qp)) {
      assertTrue(System.nanoTime() < deadline, "the last send has no completion");
      LockSupport.parkNanos(1_000);
    }
  }

  private static void take(End end, int from, int count) {
    for (int i = from; i < from + count; i++) {
      assertEquals(i, end.nextSuccess().wrId());
    }
    assertEquals(0, end.cq.poll(WorkCompletion.batch(1)));
  }

  @Test
  void entriesAreTakenAlong() {
    connected(
        (left, a, b) -> {
          assertEquals(511, a.cq.entries());
          for (int size : SIZES) {
            leave(a, b, 0, 40);
            a.cq.resize(size);
            assertTrue(a.cq.entries() >= size && a.cq.entries() < 2 * size + 1, size + ": " + a.cq.entries());
            leave(a, b, 41, 10);
            take(a, 0, 52);
          }
        });
  }

  @Test
  void theSameSizeIsNoCommand() {
    connected(
        (left, a, b) -> {
          left.core.trace(command -> assertTrue(command.opcode() != Opcode.MODIFY_CQ));
          a.cq.resize(300);
          left.core.trace(null);
          assertEquals(511, a.cq.entries());
        });
  }

  @Test
  void whatDoesNotFitStays() {
    connected(
        (left, a, b) -> {
          leave(a, b, 0, 40);
          assertEquals(Errno.EINVAL, assertThrows(VerbsException.class, () -> a.cq.resize(10)).errno());
          int beyond = (int) a.context.attributes().limit(DeviceLimit.MAX_CQE) + 1;
          assertEquals(Errno.EINVAL, assertThrows(VerbsException.class, () -> a.cq.resize(beyond)).errno());
          assertEquals(511, a.cq.entries());
          left.model().faults().failCommands(Opcode.MODIFY_CQ.number(), CommandStatus.INTERNAL_ERROR.number(), 1);
          assertEquals(Errno.EIO, assertThrows(VerbsException.class, () -> a.cq.resize(2000)).errno());
          leave(a, b, 41, 10);
          take(a, 0, 52);
        });
  }

  @Test
  void noneIsLostAndNoneDoubledUnderTraffic() {
    connected(
        (left, a, b) -> {
          AtomicReference<Throwable> failure = new AtomicReference<>();
          boolean[] over = new boolean[1];
          Thread resizer =
              Thread.ofPlatform()
                  .start(
                      () -> {
                        try {
                          resizeUntil(a.cq, over);
                          resizeUntil(b.cq, over);
                        } catch (Throwable e) {
                          failure.set(e);
                        }
                      });
          exchange(a, b, over);
          try {
            resizer.join(TimeUnit.SECONDS.toMillis(60));
          } catch (InterruptedException e) {
            throw new AssertionError(e);
          }
          assertEquals(null, failure.get());
        });
  }

  /** Each of both queues gets half of the traffic. */
  private static void resizeUntil(CompletionQueue cq, boolean[] over) {
    for (int i = 0; i < 30 || i < SIZES.length; i++) {
      synchronized (over) {
        if (over[0]) {
          return;
        }
      }
      cq.resize(SIZES[i % SIZES.length]);
      LockSupport.parkNanos(200_000);
    }
  }

  private static void exchange(End a, End b, boolean[] over) {
    int sent = 0;
    int received = 0;
    int completed = 0;
    WorkCompletion[] batch = WorkCompletion.batch(8);
    int posted = 0;
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(90);
    while (received < MESSAGES || completed < MESSAGES) {
      assertTrue(System.nanoTime() < deadline, sent + " sent, " + completed + " completed, " + received + " received");
      for (; posted < MESSAGES && posted - received < End.DEPTH; posted++) {
        b.qp.postReceive(receive(b, posted));
      }
      for (; sent < posted && sent - completed < End.DEPTH; sent++) {
        a.qp.postSend(send(a, sent));
      }
      completed = next(a.cq, batch, completed, WcOpcode.SEND);
      received = next(b.cq, batch, received, WcOpcode.RECV);
    }
    synchronized (over) {
      over[0] = true;
    }
    assertEquals(0, a.cq.poll(batch) + b.cq.poll(batch));
  }

  private static int next(CompletionQueue cq, WorkCompletion[] batch, int from, WcOpcode opcode) {
    int count = cq.poll(batch);
    for (int i = 0; i < count; i++) {
      assertEquals(WcStatus.SUCCESS, batch[i].status());
      assertEquals(from + i, batch[i].wrId());
      assertEquals(opcode, batch[i].opcode());
    }
    return from + count;
  }
}
