package org.rdma4j.rdma.cm.internal.cma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.QpInitAttributes;
import org.rdma4j.ib.core.verbs.QpState;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.rdma.cm.EventChannel;
import org.rdma4j.rdma.cm.MulticastJoin;
import org.rdma4j.rdma.cm.PortSpace;
import org.rdma4j.rdma.cm.RdmaCm;
import org.rdma4j.rdma.cm.RdmaCmEvent;
import org.rdma4j.rdma.cm.RdmaCmEventType;
import org.rdma4j.rdma.cm.RdmaCmId;
import org.rdma4j.rdma.cm.RdmaCmState;
import org.rdma4j.rdma.cm.ib.CmTimer;
import org.rdma4j.rdma.cm.ib.IbCm;

/** What identifiers and channels promise where there is no device: states, ports, errors with their words, ends. */
@Timeout(60)
class WithoutDevicesTest {
  private static final Duration SOON = Duration.ofSeconds(1);
  private static final int PORT = 7174;

  /** Nothing happens by itself. */
  private static final CmTimer NEVER =
      new CmTimer() {
        @Override
        public void execute(Runnable work) {
          throw new AssertionError("nobody is there to send something");
        }

        @Override
        public void schedule(Runnable work, long milliseconds) {
          execute(work);
        }

        @Override
        public boolean isCurrent() {
          return false;
        }
      };

  private final Cma cma = new Cma(new IbCm(NEVER), List::of, new LocalPorts(40_000, 40_999, false));
  private final Owner owner = new Owner(cma, "org.example", device -> null);
  private final EventChannel channel = owner.createEventChannel();

  @AfterEach
  void nothingIsLeft() {
    owner.shut();
    assertTrue(cma.isEmpty());
    assertEquals(List.of(), owner.resources());
    refused(Errno.ENODEV, "closed", owner::createEventChannel);
  }

  private static void refused(Errno errno, String said, Executable call) {
    VerbsException e = assertThrows(VerbsException.class, call);
    assertEquals(errno, e.errno(), e.toString());
    assertTrue(e.getMessage().contains(said), e.getMessage());
  }

  private RdmaCmId id() {
    return owner.createId(channel, PortSpace.TCP, null);
  }

  private static InetSocketAddress at(String host, int port) {
    return new InetSocketAddress(host, port);
  }

  @Test
  void aNewIdentifierHasNothing() {
    RdmaCmId id = owner.createId(channel, PortSpace.UDP, "mine");
    assertEquals(RdmaCmState.IDLE, id.state());
    assertEquals(QpType.UD, id.qpType());
    assertEquals("mine", id.context());
    assertSame(channel, id.channel());
    assertNull(id.verbs());
    assertNull(id.qp());
    assertNull(id.route());
    assertNull(id.remoteAddress());
    assertEquals(0, id.port());
    refused(Errno.EINVAL, "what queue pairs", () -> owner.createId(channel, PortSpace.IB, null));
  }

  @Test
  void everyCallNamesTheStatesThatAllowIt() {
    RdmaCmId id = id();
    refused(Errno.EINVAL, "ADDR_RESOLVED", () -> id.resolveRoute(SOON));
    refused(Errno.EINVAL, "ROUTE_RESOLVED", () -> id.connect(null));
    refused(Errno.EINVAL, "CONNECT", () -> id.accept(null));
    refused(Errno.EINVAL, "CONNECT", () -> id.reject(new byte[0]));
    refused(Errno.EINVAL, "CONNECT", () -> id.rejectEce(new byte[0]));
    refused(Errno.EINVAL, "CONNECT", id::establish);
    refused(Errno.EINVAL, "CONNECT", id::notifyEstablished);
    refused(Errno.EINVAL, "DISCONNECT", id::disconnect);
    refused(Errno.EINVAL, "no device", () -> id.createQp(null, new QpInitAttributes(QpType.RC)));
    refused(Errno.EINVAL, "no device", id::domain);
    refused(Errno.EINVAL, "no device", () -> id.qpAttributes(QpState.INIT));
    refused(Errno.EINVAL, "ADDR_BOUND", () -> id.joinMulticast(group(), MulticastJoin.FULL_MEMBER));
    refused(Errno.EADDRNOTAVAIL, "not joined", () -> id.leaveMulticast(group()));
    refused(Errno.EINVAL, "LISTEN", () -> id.getRequest(Duration.ZERO));
    id.bindAddress(at("0.0.0.0", 0));
    refused(Errno.EINVAL, "[IDLE]", () -> id.bindAddress(at("0.0.0.0", 0)));
    id.listen(0);
    assertEquals(RdmaCmState.LISTEN, id.state());
    refused(Errno.EINVAL, "[IDLE, ADDR_BOUND]", () -> id.listen(0));
    refused(Errno.EINVAL, "listens", () -> id.reuseAddress(true));
    refused(Errno.EINVAL, "event channel", () -> id.getRequest(Duration.ZERO));
    id.close();
    id.close();
    refused(Errno.EINVAL, "DESTROYING", () -> id.listen(0));
    refused(Errno.EINVAL, "DESTROYING", () -> id.migrate(null));
  }

  private static InetAddress group() {
    return at("239.1.2.3", 0).getAddress();
  }

  @Test
  void argumentsAreChecked() {
    RdmaCmId id = id();
    refused(Errno.EINVAL, "is a name", () -> id.bindAddress(InetSocketAddress.createUnresolved("host", 1)));
    refused(Errno.EINVAL, "needs a scope", () -> id.bindAddress(at("fe80::1", 0)));
    refused(Errno.ENODEV, "no device has the address", () -> id.bindAddress(at("192.0.2.1", 0)));
    refused(Errno.EACCES, "privilege", () -> id.bindAddress(at("0.0.0.0", 80)));
    assertEquals(RdmaCmState.IDLE, id.state());
    refused(
        Errno.EINVAL, "families", () -> id.resolveAddress(at("0.0.0.0", 0), at("2001:db8::1", PORT), SOON));
    refused(Errno.EINVAL, "no time", () -> id.resolveAddress(null, at("192.0.2.1", PORT), Duration.ZERO));
    refused(Errno.EINVAL, "from 0 to 255", () -> id.typeOfService(256));
    refused(Errno.EINVAL, "from 0 to 31", () -> id.ackTimeout(32));
    refused(Errno.EINVAL, "not UD", () -> id.requestAttributes(null, new QpInitAttributes(QpType.UD)));
  }

  @Test
  void withoutDeviceNoAddressIsResolved() {
    RdmaCmId id = id();
    id.resolveAddress(null, at("127.0.0.1", PORT), SOON);
    RdmaCmEvent event = channel.getEvent(Duration.ZERO);
    assertEquals(RdmaCmEventType.ADDR_ERROR, event.type());
    assertEquals(-Errno.ENODEV.number(), event.status());
    assertTrue(event.toString().contains("127.0.0.1:7174") && event.toString().contains("ENODEV"), event.toString());
    assertEquals(RdmaCmState.ADDR_BOUND, id.state());
    RdmaCmId waiting = owner.createId(null, PortSpace.TCP, null);
    refused(Errno.ENODEV, "no device", () -> waiting.resolveAddress(null, at("127.0.0.1", PORT), SOON));
    assertSame(RdmaCmEventType.ADDR_ERROR, waiting.event().type());
  }

  @Test
  void listenersShareAPortAsTheirFamiliesAllow() {
    RdmaCmId v4 = id();
    v4.bindAddress(at("0.0.0.0", PORT));
    v4.listen(0);
    RdmaCmId both = id();
    refused(Errno.EADDRNOTAVAIL, "port 7174 of TCP is taken", () -> both.bindAddress(at("::", PORT)));
    both.addressFamilyOnly(true);
    both.bindAddress(at("::", PORT));
    both.listen(0);
    RdmaCmId datagrams = owner.createId(channel, PortSpace.UDP, null);
    datagrams.bindAddress(at("0.0.0.0", PORT));
    v4.close();
    RdmaCmId next = id();
    next.bindAddress(at("0.0.0.0", PORT));
  }

  @Test
  void whoReusesAnAddressCannotListenOnItWithAnother() {
    RdmaCmId first = id();
    RdmaCmId second = id();
    first.reuseAddress(true);
    second.reuseAddress(true);
    first.bindAddress(at("0.0.0.0", PORT));
    second.bindAddress(at("0.0.0.0", PORT));
    refused(Errno.EADDRNOTAVAIL, "taken", () -> first.listen(0));
    second.close();
    first.listen(0);
  }

  @Test
  void anIdentifierTakesItsEventsToAnotherChannel() {
    RdmaCmId id = id();
    id.resolveAddress(null, at("127.0.0.1", PORT), SOON);
    EventChannel other = owner.createEventChannel();
    id.migrate(other);
    assertNull(channel.getEvent(Duration.ZERO));
    assertSame(id, other.getEvent(Duration.ZERO).id());
    RdmaCm somebody = owner.open("somebody");
    EventChannel foreign = somebody.createEventChannel();
    refused(Errno.EINVAL, "somebody else's", () -> id.migrate(foreign));
    refused(Errno.EINVAL, "somebody else's", () -> owner.createId(foreign, PortSpace.TCP, null));
    id.migrate(null);
    assertNull(id.channel());
    somebody.close();
    refused(Errno.ENODEV, "somebody is closed", somebody::createEventChannel);
  }

  @Test
  void eventsOfADestroyedIdentifierAreDropped() {
    RdmaCmId id = id();
    id.resolveAddress(null, at("127.0.0.1", PORT), SOON);
    id.close();
    assertNull(channel.getEvent(Duration.ZERO));
  }

  @Test
  void aClosedChannelTakesItsIdentifiersAlong() throws InterruptedException {
    RdmaCmId id = id();
    id.bindAddress(at("0.0.0.0", PORT));
    id.listen(0);
    CountDownLatch waits = new CountDownLatch(1);
    AtomicReference<VerbsException> told = new AtomicReference<>();
    Thread waiter =
        Thread.ofPlatform()
            .start(
                () -> {
                  waits.countDown();
                  told.set(assertThrows(VerbsException.class, () -> channel.getEvent(null)));
                });
    waits.await();
    channel.close();
    waiter.join();
    assertEquals(Errno.EINVAL, told.get().errno());
    assertEquals(RdmaCmState.DESTROYING, id.state());
    refused(Errno.EINVAL, "closed", () -> owner.createId(channel, PortSpace.TCP, null));
    refused(Errno.EINVAL, "closed", channel::selectable);
  }

  @Test
  void anInterruptEndsTheWait() {
    Thread.currentThread().interrupt();
    refused(Errno.ECANCELED, "interrupted", () -> channel.getEvent(null));
    assertTrue(Thread.interrupted());
  }

  @Test
  void aHandlerMayDestroyWhatItHearsOfAndOneThatFailsHearsTheNext() throws InterruptedException {
    RdmaCmId first = id();
    RdmaCmId second = id();
    CountDownLatch both = new CountDownLatch(2);
    first.resolveAddress(null, at("127.0.0.1", PORT), SOON);
    channel.handler(
        event -> {
          event.id().close();
          both.countDown();
          throw new IllegalStateException("expected by the test");
        });
    second.resolveAddress(null, at("127.0.0.1", PORT), SOON);
    both.await();
    refused(Errno.EINVAL, "handler", () -> channel.getEvent(Duration.ZERO));
    channel.handler(null);
    assertNull(channel.getEvent(Duration.ZERO));
    assertEquals(RdmaCmState.DESTROYING, second.state());
  }

  @Test
  void resourcesNameOwnersAndStates() {
    RdmaCm program = owner.open("rping");
    EventChannel its = program.createEventChannel();
    RdmaCmId id = program.createId(its, PortSpace.TCP, null);
    id.bindAddress(at("0.0.0.0", PORT));
    var line = owner.resources().getFirst();
    assertEquals("rping", line.comm());
    assertEquals("org.example", line.bundle());
    assertEquals(RdmaCmState.ADDR_BOUND, line.state());
    assertEquals(at("0.0.0.0", PORT), line.local());
    assertNull(line.device());
    program.close();
    assertEquals(List.of(), owner.resources());
    assertFalse(cma.isEmpty() && id.state() != RdmaCmState.DESTROYING);
  }
}
