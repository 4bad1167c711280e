package org.rdma4j.ib.core.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.rdma4j.roce.address.Gid;

/** What the core checks of multicast attachments, and how they end. */
class MulticastTest {
  private static final Gid GROUP = Gid.parse("ff0e::77");

  private final TestDevice device = new TestDevice();
  private final ProtectionDomain pd = device.pd();
  private final QueuePair qp = device.qp(pd, QpType.UD);

  @AfterEach
  void close() {
    device.close();
    assertEquals(0, device.provider.objects.get());
  }

  private static VerbsException fails(Errno errno, Runnable code) {
    VerbsException e = assertThrows(VerbsException.class, code::run);
    assertEquals(errno, e.errno(), e.getMessage());
    return e;
  }

  @Test
  void attachedTwiceIsAttachedOnce() {
    device.provider.log.clear();
    qp.attachMulticast(GROUP, 0);
    qp.attachMulticast(GROUP, 0);
    qp.detachMulticast(GROUP, 0);
    assertEquals(List.of("attach ff0e::77 0", "detach ff0e::77 0"), device.provider.log);
    assertTrue(fails(Errno.EINVAL, () -> qp.detachMulticast(GROUP, 0)).getMessage().contains("not attached"));
  }

  @Test
  void onlyDatagramsAndGroups() {
    assertTrue(fails(Errno.EINVAL, () -> qp.attachMulticast(TestDevice.PEER, 0)).getMessage().contains("multicast"));
    QueuePair connected = device.qp(pd, QpType.RC);
    assertTrue(fails(Errno.EINVAL, () -> connected.attachMulticast(GROUP, 0)).getMessage().contains("UD"));
    fails(Errno.EINVAL, () -> connected.detachMulticast(GROUP, 0));
  }

  @Test
  void anAttachedQueuePairIsBusy() {
    qp.attachMulticast(GROUP, 7);
    assertTrue(fails(Errno.EBUSY, qp::destroy).getMessage().contains("ff0e::77/7"));
    fails(Errno.EINVAL, () -> qp.detachMulticast(GROUP, 8));
    qp.detachMulticast(GROUP, 7);
    qp.destroy();
    fails(Errno.EINVAL, () -> qp.attachMulticast(GROUP, 7));
  }

  @Test
  void aContextThatClosesEndsAttachedQueuePairs() {
    qp.attachMulticast(GROUP, 7);
    device.context.close();
    assertEquals(0, device.provider.objects.get());
  }

  @Test
  void afterRemovalNothingAttaches() {
    qp.attachMulticast(GROUP, 7);
    device.remove();
    fails(Errno.EIO, () -> qp.attachMulticast(GROUP, 8));
    fails(Errno.EIO, () -> qp.detachMulticast(GROUP, 7));
    qp.destroy();
  }
}
