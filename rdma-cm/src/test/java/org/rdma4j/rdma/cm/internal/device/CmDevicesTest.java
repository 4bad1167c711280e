package org.rdma4j.rdma.cm.internal.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.rdma4j.ib.core.mad.MadHeader;
import org.rdma4j.ib.core.mad.MadRegistration;
import org.rdma4j.ib.core.verbs.AhAttributes;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.PortCoreCapability;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.rdma.cm.ib.CmAddress;
import org.rdma4j.rdma.cm.ib.CmEvent;
import org.rdma4j.rdma.cm.ib.CmHandler;
import org.rdma4j.rdma.cm.ib.CmId;
import org.rdma4j.rdma.cm.ib.CmPath;
import org.rdma4j.rdma.cm.ib.CmPort;
import org.rdma4j.rdma.cm.ib.CmState;
import org.rdma4j.rdma.cm.ib.RepParameters;
import org.rdma4j.rdma.cm.ib.ReqParameters;
import org.rdma4j.rdma.cm.message.CmAttribute;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.address.Guid;
import org.rdma4j.roce.address.PathMtu;

class CmDevicesTest {
  private static final long SERVICE = 0x0000000001061c06L;
  private static final byte[] NOTHING = {};
  private static final long PATIENCE_SECONDS = 30;

  private record Told(CmId id, CmEvent event) {}

  private final FakeMads mads = new FakeMads();
  private final CmDevices devices = new CmDevices(mads);
  private final FakeDevice a = FakeDevice.of(1);
  private final FakeDevice b = FakeDevice.of(2);
  private final BlockingQueue<Told> told = new LinkedBlockingQueue<>();

  @AfterEach
  void end() {
    devices.close();
    mads.close();
  }

  private CmHandler.Verdict note(CmId id, CmEvent event) {
    assertTrue(devices.thread().isCurrent());
    told.add(new Told(id, event));
    return CmHandler.Verdict.KEEP;
  }

  private <T extends CmEvent> Told await(Class<T> type) throws InterruptedException {
    Told next = told.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
    assertSame(type, next == null ? null : next.event().getClass());
    return next;
  }

  private CmPort port(FakeDevice device) {
    return devices.port(device.name(), 1).orElseThrow();
  }

  private CmId id(FakeDevice device) {
    return devices.manager().create(port(device), this::note);
  }

  private static CmPath path(Gid from, Gid to, int pkey) {
    return new CmPath(new CmAddress(from, to, pkey, 12, 345, 64, 0), PathMtu.MTU_1024, 0, 18);
  }

  private static ReqParameters req(Gid from, Gid to, int pkey) {
    return new ReqParameters(
        path(from, to, pkey), SERVICE, 17, QpType.RC, 1, 2, 3, 20, false, 7, 7, 15, false, 0, 0, NOTHING);
  }

  private CmId connected() throws InterruptedException {
    CmId listener = id(b);
    listener.listen(SERVICE);
    CmId active = id(a);
    active.sendReq(req(a.gid(), b.gid(), 0xffff));
    CmId passive = await(CmEvent.ReqReceived.class).id();
    passive.sendRep(new RepParameters(18, 4, 3, 2, 0, false, 7, false, 0, 0, NOTHING));
    await(CmEvent.RepReceived.class).id().sendRtu(NOTHING);
    assertSame(passive, await(CmEvent.RtuReceived.class).id());
    listener.destroy();
    return active;
  }

  @Test
  void connectionsBetweenDevices() throws InterruptedException {
    devices.add(a);
    devices.add(b);
    assertEquals(
        new MadRegistration(MadHeader.CLASS_CM, MadHeader.CLASS_VERSION_CM, Set.of(MadHeader.METHOD_SEND)),
        mads.registrations.getFirst());
    CmId active = connected();
    CmPort portA = port(a);
    CmPort portB = port(b);
    FakeMads.Sending first = mads.sendings.getFirst();
    AhAttributes way =
        new AhAttributes(1, b.gid(), FakeDevice.GID_INDEX)
            .withTrafficClass(12)
            .withFlowLabel(345)
            .withHopLimit(64);
    assertEquals(way, first.to.way());
    assertEquals(1, first.to.pkeyIndex(), "where 0xffff is");
    assertEquals(6144, first.milliseconds, "two life times of the path and the peer's time to answer");
    assertEquals(15, first.retries);
    assertEquals(WcStatus.WR_FLUSH_ERR, first.status(), "no answer is waited for any more");
    active.sendDreq(NOTHING);
    CmId passive = await(CmEvent.DreqReceived.class).id();
    passive.sendDrep(NOTHING);
    await(CmEvent.DrepReceived.class);
    for (CmAttribute kind : List.of(CmAttribute.REQ, CmAttribute.RTU, CmAttribute.DREQ)) {
      assertEquals(1, portA.counters().sent(kind), kind.name());
      assertEquals(1, portB.counters().received(kind), kind.name());
      assertEquals(0, portA.counters().retries(kind), kind.name());
    }
    assertEquals(1, portB.counters().sent(CmAttribute.REP));
    assertEquals(1, portA.counters().received(CmAttribute.DREP));
    assertEquals(a.nodeGuid().value(), portA.nodeGuid());
    assertEquals(FakeDevice.ACK_DELAY, portA.ackDelay());
    assertEquals("fake1/1", portA.toString());
    active.destroy();
    passive.destroy();
    assertEquals(0, devices.manager().size());
  }

  @Test
  void noAnswerComes() throws InterruptedException {
    devices.add(a);
    mads.deaf = true;
    CmId id = id(a);
    id.sendReq(req(a.gid(), b.gid(), 0xffff));
    mads.sendings.getFirst().exhaust();
    await(CmEvent.ReqError.class);
    assertEquals(CmState.IDLE, id.state());
    assertEquals(16, port(a).counters().sent(CmAttribute.REQ));
    assertEquals(15, port(a).counters().retries(CmAttribute.REQ));
  }

  @Test
  void whatThePortHasNot() {
    devices.add(a);
    CmId id = id(a);
    VerbsException noGid =
        assertThrows(VerbsException.class, () -> id.sendReq(req(b.gid(), a.gid(), 0xffff)));
    assertEquals(Errno.EADDRNOTAVAIL, noGid.errno());
    VerbsException noPkey =
        assertThrows(VerbsException.class, () -> id.sendReq(req(a.gid(), b.gid(), 0x8002)));
    assertEquals(Errno.EINVAL, noPkey.errno());
    assertEquals(CmState.IDLE, id.state());
    assertTrue(mads.sendings.isEmpty());
  }

  @Test
  void aDeviceGoesAndIdsSurvive() throws InterruptedException {
    devices.add(a);
    devices.add(b);
    CmId established = connected();
    CmId asking = id(a);
    mads.deaf = true;
    asking.sendReq(req(a.gid(), b.gid(), 0xffff));
    FakeMads.Sending outstanding = mads.sendings.getLast();
    devices.remove(a.name());
    assertEquals(WcStatus.WR_FLUSH_ERR, outstanding.status());
    assertTrue(devices.port(a.name(), 1).isEmpty());
    assertEquals(1, mads.closed.size());
    assertEquals(CmState.REQ_SENT, asking.state(), "no event tells of it, as in the kernel");
    assertEquals(CmState.ESTABLISHED, established.state());
    VerbsException gone = assertThrows(VerbsException.class, () -> established.sendDreq(NOTHING));
    assertEquals(Errno.ENODEV, gone.errno());
    assertEquals(CmState.TIMEWAIT, established.state());
    assertEquals(Errno.ENODEV, assertThrows(VerbsException.class, () -> asking.port().way(null)).errno());
    asking.destroy();
    established.destroy();
    assertTrue(told.isEmpty());
    devices.remove(a.name());
  }

  @Test
  void aDeviceThatComesBackIsAnother() throws InterruptedException {
    devices.add(a);
    CmId old = id(a);
    old.listen(SERVICE);
    devices.remove(a.name());
    devices.add(a);
    CmId again = id(a);
    again.listen(SERVICE);
    old.destroy();
    assertEquals(CmState.LISTEN, again.state());
    devices.add(b);
    CmId active = id(b);
    active.sendReq(req(b.gid(), a.gid(), 0xffff));
    CmEvent.ReqReceived request = (CmEvent.ReqReceived) await(CmEvent.ReqReceived.class).event();
    assertSame(again, request.listener());
  }

  @Test
  void whoFollowsHearsInTime() {
    List<String> heard = Collections.synchronizedList(new ArrayList<>());
    for (String name : List.of("first", "second")) {
      devices.follow(
          new CmDevices.Follower() {
            @Override
            public void added(CmDevice device) {
              heard.add(name + "+" + device.ports());
            }

            @Override
            public void removing(CmDevice device) {
              device.ports().getFirst().way(path(a.gid(), b.gid(), 0xffff).address()); // It still works.
              heard.add(name + "-" + device.name());
            }
          });
    }
    devices.add(a);
    devices.remove(a.name());
    assertEquals(List.of("first+[fake1/1]", "second+[fake1/1]", "second-fake1", "first-fake1"), heard);
  }

  @Test
  void whoThrowsStopsNobody() {
    List<String> heard = new ArrayList<>();
    devices.follow(
        new CmDevices.Follower() {
          @Override
          public void added(CmDevice device) {
            throw new IllegalStateException("added");
          }

          @Override
          public void removing(CmDevice device) {
            throw new IllegalStateException("removing");
          }
        });
    devices.follow(
        new CmDevices.Follower() {
          @Override
          public void added(CmDevice device) {
            heard.add("+" + device);
          }

          @Override
          public void removing(CmDevice device) {
            heard.add("-" + device);
          }
        });
    devices.add(a);
    devices.remove(a.name());
    assertEquals(List.of("+fake1", "-fake1"), heard);
  }

  @Test
  void onlyPortsThatAreAbleTo() {
    Set<PortCoreCapability> iwarp = Set.of(PortCoreCapability.IW_CM, PortCoreCapability.PROT_IWARP);
    devices.add(new FakeDevice("iw0", new Guid(3), a.gid(), List.of(iwarp)));
    assertTrue(devices.devices().isEmpty());
    devices.add(new FakeDevice("two0", new Guid(4), a.gid(), List.of(iwarp, PortCoreCapability.roceV2())));
    assertTrue(devices.port("two0", 1).isEmpty());
    assertEquals(2, devices.port("two0", 2).orElseThrow().number());
    devices.remove("two0");
    devices.remove("iw0");
  }

  @Test
  void allPortsOrNone() {
    mads.refusing = 2;
    Set<PortCoreCapability> roce = PortCoreCapability.roceV2();
    FakeDevice two = new FakeDevice("two0", new Guid(4), a.gid(), List.of(roce, roce));
    assertThrows(VerbsException.class, () -> devices.add(two));
    assertEquals(1, mads.closed.size());
    assertTrue(devices.devices().isEmpty());
  }

  @Test
  void nothingIsLeftOfTheThread() throws InterruptedException {
    devices.add(a);
    devices.add(b);
    connected();
    devices.remove(a.name());
    devices.remove(b.name());
    devices.close();
    assertFalse(Thread.getAllStackTraces().keySet().stream().anyMatch(each -> each.getName().equals("ib_cm")));
    devices.thread().execute(() -> told.add(new Told(null, null)));
    assertTrue(told.isEmpty());
  }
}
