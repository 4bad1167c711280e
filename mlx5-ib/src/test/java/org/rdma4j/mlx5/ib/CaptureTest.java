package org.rdma4j.mlx5.ib;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.channels.Channels;
import java.nio.channels.WritableByteChannel;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.ReceiveWorkRequest;
import org.rdma4j.ib.core.verbs.SendFlag;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.roce.address.PathMtu;
import org.rdma4j.roce.capture.LinkCapture;
import org.rdma4j.roce.link.LinkException;

/** What a tap in the cable of a modelled card shows. */
@Timeout(60)
class CaptureTest {
  private static final int BTH_AND_ICRC = 16;

  private static void exchange(End a, End b) {
    b.qp.postReceive(new ReceiveWorkRequest().addSge(b.region.address(), 100, b.region.lkey()));
    a.qp.postSend(
        new SendWorkRequest().flags(SendFlag.SIGNALED).addSge(a.region.address(), 100, a.region.lkey()));
    b.nextSuccess();
    a.nextSuccess();
  }

  @Test
  void everyPacketIsThereOnce() throws IOException {
    ByteArrayOutputStream file = new ByteArrayOutputStream();
    WritableByteChannel channel = Channels.newChannel(file);
    try (TestHost left = new TestHost();
        TestHost right = new TestHost();
        End b = new End(right, QpType.RC, 4096)) {
      End a = new End(left, QpType.RC, 4096);
      a.connect(b, PathMtu.MTU_1024);
      b.connect(a, PathMtu.MTU_1024);
      assertEquals(a.context.device().nodeGuid(), left.model().nodeGuid());
      LinkCapture.Running capture = left.model().capture(channel);
      LinkException busy = assertThrows(LinkException.class, () -> left.model().capture(channel));
      assertEquals("EBUSY", busy.errnoName());
      exchange(a, b);
      exchange(a, b);
      capture.close();
      // Where the machine lets the peer wait, the requester asks again.
      assertTrue(capture.packets() >= 4, "a SEND and its acknowledge, twice");
      assertTrue(capture.bytes() >= 2 * (BTH_AND_ICRC + 100) + 2 * (BTH_AND_ICRC + 4));
      assertTrue(file.size() > capture.bytes());
      LinkCapture.Running next = left.model().capture(Channels.newChannel(new ByteArrayOutputStream()));
      assertTrue(next.isActive());
      left.pull();
      assertFalse(next.isActive());
      LinkException gone = assertThrows(LinkException.class, () -> left.model().capture(channel));
      assertEquals("ENODEV", gone.errnoName());
      a.close();
    }
  }
}
