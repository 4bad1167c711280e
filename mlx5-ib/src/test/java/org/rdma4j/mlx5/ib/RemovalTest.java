package org.rdma4j.mlx5.ib;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.PostException;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.ReceiveWorkRequest;
import org.rdma4j.ib.core.verbs.SendFlag;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.ib.core.verbs.WorkCompletion;
import org.rdma4j.roce.address.PathMtu;

/** The card goes, in order or not: what was posted completes as flushed, once. */
@Timeout(120)
class RemovalTest {
  private static final int POSTED = 10;

  @Test
  void orderlyRemovalFlushes() {
    remove(TestHost::close);
  }

  @Test
  void cardIsPulledOut() {
    remove(TestHost::pull);
  }

  private static void remove(Consumer<TestHost> how) {
    try (TestHost left = new TestHost();
        TestHost right = new TestHost();
        End b = new End(right, QpType.RC, 4096)) {
      End a = new End(left, QpType.RC, 4096);
      a.connect(b, PathMtu.MTU_1024);
      b.connect(a, PathMtu.MTU_1024);
      b.qp.postReceive(new ReceiveWorkRequest().addSge(b.region.address(), 100, b.region.lkey()));
      SendWorkRequest send =
          new SendWorkRequest()
              .wrId(100)
              .flags(SendFlag.SIGNALED)
              .addSge(a.region.address(), 8, a.region.lkey());
      ReceiveWorkRequest receive = new ReceiveWorkRequest().addSge(a.region.address(), 100, a.region.lkey());
      a.qp.postSend(send);
      b.nextSuccess();
      for (int i = 0; i < POSTED; i++) {
        a.qp.postReceive(receive.wrId(i));
      }
      how.accept(left);
      WorkCompletion[] batch = WorkCompletion.batch(2 * POSTED);
      assertEquals(POSTED + 1, a.cq.poll(batch));
      assertEquals(100, batch[0].wrId());
      for (int i = 0; i < POSTED; i++) {
        assertEquals(i, batch[i + 1].wrId());
        assertEquals(WcStatus.WR_FLUSH_ERR, batch[i + 1].status());
      }
      assertEquals(Errno.EIO, assertThrows(VerbsException.class, () -> a.cq.poll(batch)).errno());
      assertEquals(Errno.EIO, assertThrows(PostException.class, () -> a.qp.postSend(send)).errno());
      a.close();
    }
  }
}
