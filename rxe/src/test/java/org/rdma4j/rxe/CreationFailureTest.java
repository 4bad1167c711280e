package org.rdma4j.rxe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.DatagramSocket;
import java.net.InetSocketAddress;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.rdma4j.ib.core.verbs.AhAttributes;
import org.rdma4j.ib.core.verbs.CompletionQueue;
import org.rdma4j.ib.core.verbs.Context;
import org.rdma4j.ib.core.verbs.DeviceControl;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.ProtectionDomain;
import org.rdma4j.ib.core.verbs.QpInitAttributes;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.engine.IdleStrategy;
import org.rdma4j.roce.link.IcrcCheck;

/** What cannot be made leaves nothing behind. */
class CreationFailureTest {
  private Footprint before;

  /** The first device and the first socket of the JDK load classes and open what stays open. */
  @BeforeEach
  void remember() throws IOException {
    new DatagramSocket().close();
    TestLink.open("rxe0").close();
    before = Footprint.now();
  }

  private static VerbsException failure(RxeSettings settings, Errno errno) {
    VerbsException e =
        assertThrows(VerbsException.class, () -> RxeRegistration.make(settings, device -> {}, () -> {}));
    assertEquals(errno, e.errno(), e.toString());
    return e;
  }

  @Test
  void aMissingInterfaceIsNamed() {
    VerbsException e = failure(new RxeSettings("rxe0", "nosuch0", null), Errno.ENODEV);
    assertTrue(e.getMessage().contains("nosuch0"), e.getMessage());
    before.assertUnchanged();
  }

  @Test
  void anAddressThatIsNotLocalIsNamed() {
    VerbsException e = failure(new RxeSettings("rxe0", "lo", TestLink.gid("192.0.2.1")), Errno.EADDRNOTAVAIL);
    assertTrue(e.getMessage().contains("192.0.2.1"), e.getMessage());
    before.assertUnchanged();
  }

  @Test
  void aPortThatIsTakenIsNamed() throws IOException {
    Gid gid = TestLink.anyLoopback();
    try (DatagramSocket taken = new DatagramSocket(new InetSocketAddress(gid.toInetAddress(), 0))) {
      int port = taken.getLocalPort();
      RxeSettings settings = new RxeSettings("rxe0", "lo", gid, IcrcCheck.RECOVER, port, IdleStrategy.BLOCK);
      VerbsException e = failure(settings, Errno.EADDRINUSE);
      assertTrue(e.getMessage().contains(String.valueOf(port)), e.getMessage());
    }
    before.assertUnchanged();
  }

  /** Of the addresses of an interface one cannot be had: those that were taken before it are given back. */
  @Test
  void onePortOfSeveralThatIsTakenIsEnough() throws IOException {
    List<Gid> addresses = PortNetdev.addresses("lo");
    assumeTrue(addresses.size() > 1, "lo has one address only");
    try (DatagramSocket taken = new DatagramSocket(new InetSocketAddress(addresses.getLast().toInetAddress(), 0))) {
      int port = taken.getLocalPort();
      failure(new RxeSettings("rxe0", "lo", null, IcrcCheck.RECOVER, port, IdleStrategy.BLOCK), Errno.EADDRINUSE);
    }
    before.assertUnchanged();
  }

  @Test
  void aDeviceWhoseAddressIsNoneOfItsInterfaceIsNotEnabled() {
    RxeDevice device =
        RxeRegistration.make(new RxeSettings("rxe0", "lo", TestLink.anyLoopback()), which -> {}, () -> {});
    DeviceControl control = device.bind();
    control.load("rxe0", 0);
    VerbsException e = assertThrows(VerbsException.class, control::enable);
    assertEquals(Errno.EADDRNOTAVAIL, e.errno());
    control.release();
    before.assertUnchanged();
    device.release();
  }

  @Test
  void objectsThatCannotBeMadeGiveTheirNumbersBack() {
    try (TestLink link = TestLink.open("rxe0");
        Context context = link.open();
        Arena arena = Arena.ofShared()) {
      ProtectionDomain pd = context.allocatePd();
      CompletionQueue cq = context.createCq(1, null, 0);
      int first = pd.createQp(new QpInitAttributes(QpType.RC).sendCq(cq).recvCq(cq)).number();
      assertEquals(Limits.FIRST_QP, first);
      VerbsException e =
          assertThrows(
              VerbsException.class,
              () -> pd.createQp(new QpInitAttributes(QpType.RAW_PACKET).sendCq(cq).recvCq(cq)));
      assertEquals(Errno.EOPNOTSUPP, e.errno());
      int second = pd.createQp(new QpInitAttributes(QpType.UD).sendCq(cq).recvCq(cq)).number();
      assertEquals(first + 1, second);
      AhAttributes nowhere = new AhAttributes(1, TestLink.gid("fe80::1"), 0);
      int index = context.device().gidTable(1).find(link.gid).index();
      e = assertThrows(VerbsException.class, () -> pd.createAh(new AhAttributes(1, nowhere.destinationGid(), index)));
      assertEquals(Errno.EADDRNOTAVAIL, e.errno(), e.toString());
      RxeAddressHandle handle = (RxeAddressHandle) pd.createAh(new AhAttributes(1, link.gid, index));
      assertEquals(1, handle.number(), "no number was used for the handle that was not made");
      pd.registerMemory(arena.allocate(10)).destroy();
      assertEquals(0, link.device.keys().count());
    }
    before.assertUnchanged();
  }
}
