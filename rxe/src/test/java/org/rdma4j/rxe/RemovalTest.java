package org.rdma4j.rxe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.rdma4j.ib.core.verbs.AsyncEventType;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.PostException;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.ReceiveWorkRequest;
import org.rdma4j.ib.core.verbs.SendFlag;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.ib.core.verbs.WorkCompletion;
import org.rdma4j.ib.core.verbs.WorkRequestBuilder;
import org.rdma4j.roce.address.PathMtu;

/** The device goes while it is in use. */
class RemovalTest {
  private static final int PAIRS = 2;
  private static final int BYTES = 3000;
  private static final int WARM_UP = 200;
  private static final long PAUSE_NANOS = 1_000;
  private static final long RECEIVE_BIT = 1L << 40;

  /** Posts and polls one queue pair from two threads, and keeps account. */
  private static final class Traffic {
    private final End end;
    private final CountDownLatch warm = new CountDownLatch(WARM_UP);
    private final Set<Long> posted = new HashSet<>();
    private final Set<Long> completed = new HashSet<>();
    private int succeeded;
    private int flushed;
    private final Thread poster;
    private final Thread poller;
    private volatile Throwable failure;
    private volatile boolean stop;

    Traffic(End end, String name) {
      this.end = end;
      poster = Thread.ofPlatform().name("poster " + name).unstarted(() -> guarded(this::post));
      poller = Thread.ofPlatform().name("poller " + name).unstarted(() -> guarded(this::poll));
    }

    void start() {
      poster.start();
      poller.start();
    }

    private void guarded(Runnable work) {
      try {
        work.run();
      } catch (RuntimeException | AssertionError e) {
        failure = e;
      }
    }

    private void post() {
      SendWorkRequest send =
          new SendWorkRequest()
              .flags(SendFlag.SIGNALED)
              .addSge(end.region.address(), BYTES, end.region.lkey());
      ReceiveWorkRequest receive =
          new ReceiveWorkRequest().addSge(end.region.address() + BYTES, BYTES, end.region.lkey());
      boolean gone = false;
      for (long id = 1; !gone && !stop; id++) {
        gone = postOne(RECEIVE_BIT | id, () -> end.qp.postReceive(receive), receive, send);
        gone |= postOne(id, () -> end.qp.postSend(send), receive, send);
      }
    }

    /** True when the device is gone. */
    private boolean postOne(long id, Runnable post, ReceiveWorkRequest receive, SendWorkRequest send) {
      receive.wrId(id);
      send.wrId(id);
      while (!stop) {
        try {
          post.run();
          posted.add(id);
          return false;
        } catch (PostException e) {
          if (e.errno() == Errno.EIO) {
            return true;
          }
          assertEquals(Errno.ENOMEM, e.errno(), e.toString());
          LockSupport.parkNanos(PAUSE_NANOS);
        }
      }
      return true;
    }

    private void poll() {
      WorkCompletion[] batch = WorkCompletion.batch(8);
      while (!stop) {
        int count;
        try {
          count = end.cq.poll(batch);
        } catch (VerbsException e) {
          assertEquals(Errno.EIO, e.errno());
          return;
        }
        if (count == 0) {
          LockSupport.parkNanos(PAUSE_NANOS);
        }
        for (int i = 0; i < count; i++) {
          assertTrue(completed.add(batch[i].wrId()), "completed twice: " + batch[i]);
          if (batch[i].status() == WcStatus.SUCCESS) {
            assertEquals(0, flushed, "a success after a flush");
            succeeded++;
            warm.countDown();
          } else {
            assertEquals(WcStatus.WR_FLUSH_ERR, batch[i].status(), batch[i].toString());
            flushed++;
          }
        }
      }
    }

    void join() throws InterruptedException {
      poster.join(TimeUnit.SECONDS.toMillis(30));
      poller.join(TimeUnit.SECONDS.toMillis(30));
      assertFalse(poster.isAlive() || poller.isAlive(), "a thread does not learn that the device is gone");
      if (failure != null) {
        throw new AssertionError(failure);
      }
    }
  }

  @Test
  void everythingPostedCompletesOnceUnderTraffic() throws InterruptedException {
    try (TestLink staying = TestLink.open("rxe1")) {
      removeUnderTraffic(staying);
      Footprint before = Footprint.now();
      removeUnderTraffic(staying);
      before.assertUnchanged();
      assertStillWorks(staying);
    }
  }

  private static void removeUnderTraffic(TestLink staying) throws InterruptedException {
    TestLink going = TestLink.open("rxe0");
    List<Traffic> here = new ArrayList<>();
    List<Traffic> there = new ArrayList<>();
    for (int i = 0; i < PAIRS; i++) {
      End a = new End(going, QpType.RC, 2 * BYTES);
      End b = new End(staying, QpType.RC, 2 * BYTES);
      a.connect(b, PathMtu.MTU_1024);
      b.connect(a, PathMtu.MTU_1024);
      here.add(new Traffic(a, "a" + i));
      there.add(new Traffic(b, "b" + i));
    }
    here.forEach(Traffic::start);
    there.forEach(Traffic::start);
    for (Traffic each : here) {
      assertTrue(each.warm.await(30, TimeUnit.SECONDS), "traffic does not flow");
    }
    long begin = System.nanoTime();
    going.remove();
    assertTrue(System.nanoTime() - begin < TimeUnit.SECONDS.toNanos(5), "the removal took more than 5 s");
    for (Traffic each : here) {
      each.join();
      assertEquals(each.posted, each.completed, "posted and completed");
      assertTrue(each.succeeded >= WARM_UP);
      assertTrue(each.flushed > 0, "something was outstanding");
      assertEquals(AsyncEventType.DEVICE_FATAL, each.end.context.getAsyncEvent(Duration.ZERO).type());
      each.end.close();
    }
    for (Traffic each : there) {
      each.stop = true;
      each.poster.join();
      each.poller.join();
      each.end.close();
    }
  }

  private static void assertStillWorks(TestLink link) {
    try (End a = new End(link, QpType.RC, BYTES);
        End b = new End(link, QpType.RC, BYTES)) {
      a.connect(b, PathMtu.MTU_1024);
      b.connect(a, PathMtu.MTU_1024);
      b.qp.postReceive(new ReceiveWorkRequest().addSge(b.region.address(), BYTES, b.region.lkey()));
      a.fill(0, BYTES, 3);
      a.qp.postSend(new SendWorkRequest().addSge(a.region.address(), BYTES, a.region.lkey()));
      b.nextSuccess();
      b.verify(0, BYTES, 3);
    }
  }

  @Test
  void anOpenBatchDoesNotHoldTheRemovalUp() {
    TestLink link = TestLink.open("rxe0");
    End end = new End(link, QpType.RC, 100);
    end.connect(link.gid, 0xff_ffff, PathMtu.MTU_1024);
    WorkRequestBuilder builder = end.qp.workRequests();
    builder.start();
    builder.send();
    link.remove();
    VerbsException e = assertThrows(VerbsException.class, builder::complete);
    assertEquals(Errno.EIO, e.errno());
    builder.start();
    builder.send();
    assertThrows(VerbsException.class, builder::complete);
    assertThrows(VerbsException.class, () -> end.cq.poll(WorkCompletion.batch(1)));
    end.close();
  }

  @Test
  void completionsStayPollableAfterTheRemoval() {
    TestLink link = TestLink.open("rxe0");
    End end = new End(link, QpType.RC, 100);
    end.connect(link.gid, 0xff_ffff, PathMtu.MTU_1024);
    end.qp.postSend(new SendWorkRequest().wrId(1));
    end.qp.postReceive(new ReceiveWorkRequest().wrId(2));
    link.remove();
    WorkCompletion[] batch = WorkCompletion.batch(1);
    Set<Long> seen = new HashSet<>();
    for (int i = 0; i < 2; i++) {
      assertEquals(1, end.cq.poll(batch));
      assertEquals(WcStatus.WR_FLUSH_ERR, batch[0].status());
      seen.add(batch[0].wrId());
    }
    assertEquals(Set.of(1L, 2L), seen);
    VerbsException e = assertThrows(VerbsException.class, () -> end.cq.poll(batch));
    assertEquals(Errno.EIO, e.errno());
    assertTrue(e.getMessage().contains("removed"), e.getMessage());
    end.close();
    link.remove();
  }
}
