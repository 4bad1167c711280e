package org.rdma4j.rxe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.rdma4j.ib.core.verbs.AddressHandle;
import org.rdma4j.ib.core.verbs.AhAttributes;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.QpInitAttributes;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.QueuePair;
import org.rdma4j.ib.core.verbs.ReceiveWorkRequest;
import org.rdma4j.ib.core.verbs.SendFlag;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.ib.core.verbs.WcFlag;
import org.rdma4j.ib.core.verbs.WorkCompletion;
import org.rdma4j.ib.core.verbs.WrOpcode;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.address.PathMtu;

/** Groups through the public interface, between two devices of this host. */
class MulticastTest {
  private static final int GRH = 40;
  private static final int MULTICAST_QPN = 0xffffff;

  private final Gid group =
      Gid.ofIpv4(239 << 24 | ThreadLocalRandom.current().nextInt(1 << 16, 1 << 24));
  private final TestLink first = TestLink.open("rxe0");
  private final TestLink second = TestLink.open("rxe1");
  private final End a = new End(first, QpType.UD, 1 << 16);
  private final End b = new End(second, QpType.UD, 1 << 16);
  private final End c = new End(second, QpType.UD, 1 << 16);

  MulticastTest() {
    a.connect(b, PathMtu.MTU_1024);
    b.connect(a, PathMtu.MTU_1024);
    c.connect(a, PathMtu.MTU_1024);
  }

  @AfterEach
  void close() {
    List.of(a, b, c).forEach(End::close);
    first.close();
    second.close();
  }

  private static VerbsException fails(Errno errno, Runnable code) {
    VerbsException e = assertThrows(VerbsException.class, code::run);
    assertEquals(errno, e.errno(), e.getMessage());
    return e;
  }

  private static void receive(End end, long id) {
    end.qp.postReceive(new ReceiveWorkRequest().wrId(id).addSge(end.region.address(), 4096, end.region.lkey()));
  }

  private AddressHandle handle(End end) {
    return end.pd.createAh(new AhAttributes(1, group, end.sgidIndex()));
  }

  private static void send(End end, AddressHandle handle, long id, int length) {
    end.qp.postSend(
        new SendWorkRequest()
            .wrId(id)
            .opcode(WrOpcode.SEND)
            .flags(SendFlag.SIGNALED)
            .addSge(end.region.address() + 8192, length, end.region.lkey())
            .ah(handle)
            .remoteQpn(MULTICAST_QPN)
            .remoteQkey(End.QKEY));
    end.nextSuccess();
  }

  @Test
  void everyMemberOfEveryDeviceGetsEveryByte() {
    List<End> members = List.of(a, b, c);
    members.forEach(each -> each.qp.attachMulticast(group, 0));
    AddressHandle handle = handle(a);
    for (int round = 0; round < 5; round++) {
      int length = round * 200;
      a.fill(8192, length, round);
      b.qp.attachMulticast(group, 0);
      for (End each : List.of(b, c)) {
        receive(each, round);
      }
      send(a, handle, round, length);
      for (End each : List.of(b, c)) {
        WorkCompletion received = each.nextSuccess();
        assertEquals(round, received.wrId());
        assertEquals(GRH + length, received.byteLength());
        assertEquals(a.qp.number(), received.sourceQp());
        assertEquals(WcFlag.GRH, received.flags());
        each.verify(GRH, length, round);
      }
    }
    // The sender is a member like any other.
    receive(a, 99);
    a.fill(8192, 100, 99);
    send(b, handle(b), 6, 100);
    assertEquals(99, a.nextSuccess().wrId());
  }

  @Test
  void whoIsDetachedHearsNothing() {
    b.qp.attachMulticast(group, 0);
    c.qp.attachMulticast(group, 0);
    b.qp.detachMulticast(group, 0);
    fails(Errno.EINVAL, () -> b.qp.detachMulticast(group, 0));
    receive(b, 1);
    receive(c, 2);
    send(a, handle(a), 3, 10);
    assertEquals(2, c.nextSuccess().wrId());
    assertEquals(0, b.cq.poll(WorkCompletion.batch(1)));
    fails(Errno.EBUSY, c.qp::destroy);
    c.qp.detachMulticast(group, 0);
    c.qp.destroy();
  }

  @Test
  void aContextThatClosesLeavesItsGroups() {
    b.qp.attachMulticast(group, 0);
    c.qp.attachMulticast(group, 0);
    b.context.close();
    assertEquals(1, second.device.engine().call(() -> second.device.engine().groups().attachments()));
    c.context.close();
    assertEquals(0, second.device.engine().call(() -> second.device.engine().groups().size()));
  }

  @Test
  void moreQueuePairsThanAGroupTakesAreRefused() {
    List<QueuePair> more = new ArrayList<>();
    for (int i = 0; i < Limits.MAX_MCAST_QP_ATTACH; i++) {
      QueuePair made = b.pd.createQp(new QpInitAttributes(QpType.UD).sendCq(b.cq).recvCq(b.cq));
      made.attachMulticast(group, 0);
      more.add(made);
    }
    VerbsException e = fails(Errno.ENOMEM, () -> c.qp.attachMulticast(group, 0));
    assertTrue(e.getMessage().contains("max_mcast_qp_attach is 56"), e.getMessage());
    more.getFirst().detachMulticast(group, 0);
    c.qp.attachMulticast(group, 0);
  }

  /** As many groups as that need as many sockets, so only the rule is tested. */
  @Test
  void groupsAndAttachmentsAreLimited() {
    PortMulticast.checkLimits(8191, 0, 8191, group, "QP 17");
    PortMulticast.checkLimits(8192, 1, 8192, group, "QP 17");
    VerbsException e = fails(Errno.ENOMEM, () -> PortMulticast.checkLimits(8192, 0, 8192, group, "QP 17"));
    assertTrue(e.getMessage().contains("max_mcast_grp is 8192"), e.getMessage());
    PortMulticast.checkLimits(8192, 1, 0x6ffff, group, "QP 17");
    e = fails(Errno.ENOMEM, () -> PortMulticast.checkLimits(8192, 1, 0x7_0000, group, "QP 17"));
    assertTrue(e.getMessage().contains("max_total_mcast_qp_attach is 458752"), e.getMessage());
  }

  @Test
  void aGroupOfTheOtherFamilyIsRefused() {
    VerbsException e = fails(Errno.EADDRNOTAVAIL, () -> b.qp.attachMulticast(Gid.parse("ff0e::5"), 0));
    assertTrue(e.getMessage().contains("ff0e::5"), e.getMessage());
    b.qp.destroy();
  }
}
