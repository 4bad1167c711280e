package org.rdma4j.it.container;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertSame;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import javax.inject.Inject;
import org.junit.After;
import org.junit.Before;
import org.junit.Rule;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.ops4j.pax.exam.Configuration;
import org.ops4j.pax.exam.Option;
import org.ops4j.pax.exam.junit.PaxExam;
import org.ops4j.pax.exam.spi.reactors.ExamReactorStrategy;
import org.ops4j.pax.exam.spi.reactors.PerClass;
import org.osgi.framework.BundleContext;
import org.osgi.service.cm.ConfigurationAdmin;
import org.rdma4j.ib.core.verbs.Access;
import org.rdma4j.ib.core.verbs.AddressHandle;
import org.rdma4j.ib.core.verbs.CompletionQueue;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.MemoryRegion;
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
import org.rdma4j.rdma.cm.ConnectionParameters;
import org.rdma4j.rdma.cm.Ece;
import org.rdma4j.rdma.cm.EventChannel;
import org.rdma4j.rdma.cm.MulticastJoin;
import org.rdma4j.rdma.cm.PortSpace;
import org.rdma4j.rdma.cm.RdmaCm;
import org.rdma4j.rdma.cm.RdmaCmEvent;
import org.rdma4j.rdma.cm.RdmaCmEventType;
import org.rdma4j.rdma.cm.RdmaCmId;
import org.rdma4j.rdma.cm.RdmaCmState;
import org.rdma4j.roce.address.Gid;

/** Connections by address between the devices of a container: what is said, what is told, and what is left after. */
@RunWith(PaxExam.class)
@ExamReactorStrategy(PerClass.class)
public class RdmaCmIT {
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final Duration SOON = Duration.ofSeconds(2);
  private static final int PRIVATE_DATA_OF_REQUEST = 56;

  @Rule public final LogWatch log = new LogWatch();

  @Inject BundleContext context;
  @Inject ConfigurationAdmin configurations;
  @Inject RdmaCm manager;

  private Links links;
  private PluggedCard card;
  private RdmaCm cm;
  private EventChannel server;
  private EventChannel client;
  private InetAddress here;
  private InetAddress there;

  @Configuration
  public Option[] config() throws Exception {
    return new Option[] {Installed.product()};
  }

  @Before
  public void begin() throws Exception {
    links = new Links(context, configurations);
    links.add("it0", Links.address(0));
    links.add("it1", Links.address(1));
    here = InetAddress.getByName(Links.address(0));
    there = InetAddress.getByName(Links.address(1));
    cm = manager.open("it");
    server = cm.createEventChannel();
    client = cm.createEventChannel();
  }

  @After
  public void cleanUp() throws Exception {
    cm.close();
    Bundles.startAll(context);
    links.removeAll();
    if (card != null) {
      card.unplug();
    }
    assertEquals(List.of(), manager.resources());
    assertEquals(List.of(), links.names());
  }

  private static RdmaCmEvent next(EventChannel channel, RdmaCmEventType wanted) {
    RdmaCmEvent event = channel.getEvent(PATIENCE);
    assertNotNull("no " + wanted, event);
    assertEquals(event.toString(), wanted, event.type());
    return event;
  }

  private static byte[] text(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  private RdmaCmId listen(PortSpace space, InetAddress address) {
    RdmaCmId listener = cm.createId(server, space, "the listener's");
    listener.bindAddress(new InetSocketAddress(address, 0));
    listener.listen(0);
    return listener;
  }

  private RdmaCmId resolved(PortSpace space, int port) {
    RdmaCmId id = cm.createId(client, space, "the client's");
    id.resolveAddress(new InetSocketAddress(here, 0), new InetSocketAddress(there, port), SOON);
    assertEquals(0, next(client, RdmaCmEventType.ADDR_RESOLVED).status());
    assertEquals("it0", id.verbs().deviceName());
    id.resolveRoute(SOON);
    assertEquals(0, next(client, RdmaCmEventType.ROUTE_RESOLVED).status());
    return id;
  }

  private static QpInitAttributes attributes(QpType type) {
    return new QpInitAttributes(type).capabilities(new QpCapabilities(4, 4, 1, 1, 0)).signalAll(true);
  }

  /** Two ends of a connection. */
  private record Connection(RdmaCmId listener, RdmaCmId active, RdmaCmId passive) {}

  private Connection connect() {
    RdmaCmId listener = listen(PortSpace.TCP, there);
    RdmaCmId active = resolved(PortSpace.TCP, listener.localAddress().getPort());
    active.createQp(null, attributes(QpType.RC));
    active.connect(ConnectionParameters.DEFAULT.withPrivateData(text("hello")).withDepths(3, 2));
    RdmaCmEvent request = next(server, RdmaCmEventType.CONNECT_REQUEST);
    assertSame(listener, request.listener());
    assertArrayEquals(Arrays.copyOf(text("hello"), PRIVATE_DATA_OF_REQUEST), request.privateData());
    assertEquals("what the client issues", 2, request.connection().responderResources());
    assertEquals("what the client serves", 3, request.connection().initiatorDepth());
    RdmaCmId passive = request.id();
    assertEquals("the listener's", passive.context());
    assertEquals(active.localAddress(), passive.remoteAddress());
    assertEquals(active.remoteAddress(), passive.localAddress());
    passive.createQp(null, attributes(QpType.RC));
    passive.accept(ConnectionParameters.DEFAULT.withPrivateData(text("welcome")));
    RdmaCmEvent answer = next(client, RdmaCmEventType.ESTABLISHED);
    assertArrayEquals(Arrays.copyOf(text("welcome"), 196), answer.privateData());
    next(server, RdmaCmEventType.ESTABLISHED);
    assertEquals(QpState.RTS, active.qp().state());
    assertEquals(QpState.RTS, passive.qp().state());
    return new Connection(listener, active, passive);
  }

  private static WorkCompletion await(CompletionQueue queue) {
    WorkCompletion[] one = WorkCompletion.batch(1);
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (queue.poll(one) == 0) {
      assertTrue("no completion", System.nanoTime() < end);
      Thread.onSpinWait();
    }
    return one[0];
  }

  private static void exchange(QueuePair from, QueuePair to) {
    try (Arena arena = Arena.ofShared()) {
      MemorySegment out = arena.allocate(3000);
      MemorySegment in = arena.allocate(3000);
      for (int i = 0; i < out.byteSize(); i++) {
        out.set(ValueLayout.JAVA_BYTE, i, (byte) (i * 7));
      }
      MemoryRegion source = from.protectionDomain().registerMemory(out);
      MemoryRegion target = to.protectionDomain().registerMemory(in, Access.LOCAL_WRITE);
      to.postReceive(new ReceiveWorkRequest().wrId(1).addSge(target.address(), 3000, target.lkey()));
      from.postSend(
          new SendWorkRequest().wrId(2).opcode(WrOpcode.SEND).addSge(source.address(), 3000, source.lkey()));
      assertEquals(WcStatus.SUCCESS, await(from.sendCq()).status());
      assertEquals(WcStatus.SUCCESS, await(to.recvCq()).status());
      assertEquals(-1, out.mismatch(in));
      source.destroy();
      target.destroy();
    }
  }

  @Test
  public void aConnectionIsMadeUsedAndEnded() {
    Connection made = connect();
    exchange(made.active().qp(), made.passive().qp());
    exchange(made.passive().qp(), made.active().qp());
    QpAttributes active = made.active().qp().query();
    assertEquals("0.64 ms", 12, active.minRnrTimer());
    assertTrue("a packet is tried again within 300 ms: " + active.timeout(), active.timeout() <= 16);
    assertEquals(2, made.active().qp().query().maxRdAtomic());
    assertEquals(3, made.passive().qp().query().maxRdAtomic());
    made.active().disconnect();
    next(server, RdmaCmEventType.DISCONNECTED);
    made.passive().disconnect();
    next(client, RdmaCmEventType.DISCONNECTED);
    next(client, RdmaCmEventType.TIMEWAIT_EXIT);
    next(server, RdmaCmEventType.TIMEWAIT_EXIT);
    assertEquals(QpState.ERR, made.active().qp().state());
    assertEquals(3, cm.resources().size());
    made.active().close();
    made.passive().close();
    made.listener().close();
    assertEquals(List.of(), cm.resources());
  }

  @Test
  public void theToolShowsThem() {
    Connection made = connect();
    RdmaCmId everywhere = cm.createId(server, PortSpace.UDP, null);
    everywhere.bindAddress(new InetSocketAddress("0.0.0.0", 0));
    everywhere.listen(0);
    String owner = " pid " + ProcessHandle.current().pid() + " comm it src-addr ";
    String wild =
        " cm-idn %d state LISTEN ps UDP%s0.0.0.0:%d dst-addr 0.0.0.0:0 "
            .formatted(everywhere.number(), owner, everywhere.localAddress().getPort());
    String listening =
        " cm-idn %d state LISTEN ps TCP%s%s dst-addr 0.0.0.0:0 "
            .formatted(made.listener().number(), owner, text(made.listener().localAddress()));
    assertEquals(
        Set.of(
            "link it0/-" + wild,
            "link it1/-" + wild,
            "link it1/1" + listening,
            "link it0/1" + shown(made.active(), owner),
            "link it1/1" + shown(made.passive(), owner)),
        Shell.run(context, "rdma resource show cm_id").lines().collect(Collectors.toSet()));
    assertTrue(Shell.run(context, "rdma resource show it0").contains(" cm_id 2 "));
    assertTrue(Shell.run(context, "rdma resource show it1").contains(" cm_id 3 "));
    assertEquals("", Shell.run(context, "rdma resource show cm_id link it1/1 state IDLE"));
  }

  private static String shown(RdmaCmId id, String owner) {
    return " cm-idn %d lqpn %d qp-type RC state CONNECT ps TCP%s%s dst-addr %s "
        .formatted(id.number(), id.qp().number(), owner, text(id.localAddress()), text(id.remoteAddress()));
  }

  private static String text(InetSocketAddress address) {
    return address.getAddress().getHostAddress() + ":" + address.getPort();
  }

  @Test
  public void whereNobodyListensTheReasonIsSaid() {
    RdmaCmId id = resolved(PortSpace.TCP, 7);
    id.createQp(null, attributes(QpType.RC));
    id.connect(null);
    RdmaCmEvent event = next(client, RdmaCmEventType.REJECTED);
    assertEquals(8, event.status());
    String said = event.toString();
    assertTrue(said, said.contains("nobody listens") && said.contains(there.getHostAddress() + ":7"));
    assertEquals(QpState.ERR, id.qp().state());
  }

  @Test
  public void aConsumerRefusesWithPrivateData() {
    RdmaCmId listener = listen(PortSpace.TCP, there);
    RdmaCmId id = resolved(PortSpace.TCP, listener.localAddress().getPort());
    id.connect(ConnectionParameters.DEFAULT.withQueuePair(77, false));
    RdmaCmEvent request = next(server, RdmaCmEventType.CONNECT_REQUEST);
    assertEquals(77, request.connection().qpNumber());
    request.id().reject(text("no"));
    RdmaCmEvent refused = next(client, RdmaCmEventType.REJECTED);
    assertEquals(28, refused.status());
    assertArrayEquals(Arrays.copyOf(text("no"), 148), refused.privateData());
  }

  @Test
  public void aRequestTooManyIsAskedAgainAndServedLater() {
    RdmaCmId listener = cm.createId(server, PortSpace.TCP, null);
    listener.bindAddress(new InetSocketAddress(there, 0));
    listener.listen(1);
    int port = listener.localAddress().getPort();
    RdmaCmId first = resolved(PortSpace.TCP, port);
    RdmaCmId second = resolved(PortSpace.TCP, port);
    first.connect(ConnectionParameters.DEFAULT.withQueuePair(1, false));
    second.connect(ConnectionParameters.DEFAULT.withQueuePair(2, false));
    assertNull("neither refused nor answered", client.getEvent(Duration.ofMillis(200)));
    assertEquals(1, next(server, RdmaCmEventType.CONNECT_REQUEST).connection().qpNumber());
    assertEquals(2, next(server, RdmaCmEventType.CONNECT_REQUEST).connection().qpNumber());
  }

  @Test
  public void queuePairsOfTheApplicationAreConnected() {
    RdmaCmId listener = listen(PortSpace.TCP, there);
    RdmaCmId active = resolved(PortSpace.TCP, listener.localAddress().getPort());
    QueuePair mine = active.domain().createQp(withQueues(active));
    mine.modify(active.qpAttributes(QpState.INIT));
    active.connect(ConnectionParameters.DEFAULT.withQueuePair(mine.number(), false));
    RdmaCmId passive = next(server, RdmaCmEventType.CONNECT_REQUEST).id();
    QueuePair yours = passive.domain().createQp(withQueues(passive));
    for (QpState state : new QpState[] {QpState.INIT, QpState.RTR, QpState.RTS}) {
      yours.modify(passive.qpAttributes(state));
    }
    passive.accept(ConnectionParameters.DEFAULT.withQueuePair(yours.number(), false));
    assertEquals(yours.number(), next(client, RdmaCmEventType.CONNECT_RESPONSE).connection().qpNumber());
    for (QpState state : new QpState[] {QpState.INIT, QpState.RTR, QpState.RTS}) {
      mine.modify(active.qpAttributes(state));
    }
    active.establish();
    next(server, RdmaCmEventType.ESTABLISHED);
    exchange(mine, yours);
    mine.destroy();
    yours.destroy();
  }

  private static QpInitAttributes withQueues(RdmaCmId id) {
    CompletionQueue queue = id.verbs().createCq(8, null, 0);
    return attributes(QpType.RC).sendCq(queue).recvCq(queue);
  }

  @Test
  public void datagramsFindTheirQueuePair() {
    RdmaCmId listener = listen(PortSpace.UDP, there);
    RdmaCmId active = resolved(PortSpace.UDP, listener.localAddress().getPort());
    QueuePair from = active.createQp(null, attributes(QpType.UD));
    assertEquals(QpState.RTS, from.state());
    active.connect(ConnectionParameters.DEFAULT.withPrivateData(text("who")));
    RdmaCmEvent request = next(server, RdmaCmEventType.CONNECT_REQUEST);
    assertArrayEquals(Arrays.copyOf(text("who"), 180), request.privateData());
    QueuePair to = request.id().createQp(null, attributes(QpType.UD));
    request.id().localEce(new Ece(0x15b3, 0x77));
    request.id().accept(ConnectionParameters.DEFAULT.withPrivateData(text("me")));
    RdmaCmEvent answer = next(client, RdmaCmEventType.ESTABLISHED);
    assertEquals(new Ece(0x15b3, 0x77), answer.ece());
    assertArrayEquals(Arrays.copyOf(text("me"), 136), answer.privateData());
    assertEquals(to.number(), answer.datagram().qpNumber());
    sendDatagram(active, answer, to);
  }

  private static void sendDatagram(RdmaCmId from, RdmaCmEvent way, QueuePair to) {
    try (Arena arena = Arena.ofShared()) {
      MemorySegment out = arena.allocate(100);
      MemorySegment in = arena.allocate(200);
      out.fill((byte) 42);
      MemoryRegion source = from.domain().registerMemory(out);
      MemoryRegion target = to.protectionDomain().registerMemory(in, Access.LOCAL_WRITE);
      to.postReceive(new ReceiveWorkRequest().wrId(1).addSge(target.address(), 200, target.lkey()));
      AddressHandle handle = from.domain().createAh(way.datagram().way());
      from.qp()
          .postSend(
              new SendWorkRequest()
                  .wrId(2)
                  .opcode(WrOpcode.SEND)
                  .flags(SendFlag.SIGNALED)
                  .ah(handle)
                  .remoteQpn(way.datagram().qpNumber())
                  .remoteQkey(way.datagram().qkey())
                  .addSge(source.address(), 100, source.lkey()));
      assertEquals(WcStatus.SUCCESS, await(from.qp().sendCq()).status());
      assertEquals(WcStatus.SUCCESS, await(to.recvCq()).status());
      assertEquals(-1, out.mismatch(in.asSlice(40, 100)));
      handle.destroy();
      source.destroy();
      target.destroy();
    }
  }

  @Test
  public void aGroupIsJoinedAndHeard() throws Exception {
    InetAddress group = InetAddress.getByName("239.192.7.8");
    RdmaCmId member = cm.createId(server, PortSpace.UDP, null);
    member.bindAddress(new InetSocketAddress(there, 0));
    QueuePair to = member.createQp(null, attributes(QpType.UD));
    member.joinMulticast(group, MulticastJoin.FULL_MEMBER);
    assertEquals(0xffffff, next(server, RdmaCmEventType.MULTICAST_JOIN).datagram().qpNumber());
    RdmaCmId sender = cm.createId(client, PortSpace.UDP, null);
    sender.bindAddress(new InetSocketAddress(here, 0));
    sender.createQp(null, attributes(QpType.UD));
    sender.joinMulticast(group, MulticastJoin.SEND_ONLY);
    sendDatagram(sender, next(client, RdmaCmEventType.MULTICAST_JOIN), to);
    member.leaveMulticast(group);
    assertEquals(
        Errno.EADDRNOTAVAIL, assertThrows(VerbsException.class, () -> member.leaveMulticast(group)).errno());
    InetAddress v6 = InetAddress.getByName("ff0e::1234");
    assertEquals(
        Errno.EOPNOTSUPP,
        assertThrows(VerbsException.class, () -> member.joinMulticast(v6, MulticastJoin.FULL_MEMBER)).errno());
  }

  @Test
  public void aSynchronousPairNeedsNoChannel() throws Exception {
    RdmaCmId listener = cm.createId(null, PortSpace.TCP, null);
    listener.bindAddress(new InetSocketAddress(there, 0));
    listener.listen(3);
    listener.requestAttributes(null, attributes(QpType.RC));
    BlockingQueue<RdmaCmId> served = new LinkedBlockingQueue<>();
    Thread serving =
        Thread.ofPlatform()
            .start(
                () -> {
                  RdmaCmId id = listener.getRequest(PATIENCE);
                  id.accept(null);
                  served.add(id);
                });
    RdmaCmId active = cm.createId(null, PortSpace.TCP, null);
    active.resolveAddress(
        new InetSocketAddress(here, 0), new InetSocketAddress(there, listener.localAddress().getPort()), SOON);
    active.resolveRoute(SOON);
    active.createQp(null, attributes(QpType.RC));
    active.connect(null);
    RdmaCmId passive = served.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    assertNotNull(passive);
    serving.join();
    exchange(active.qp(), passive.qp());
    Thread ending = Thread.ofPlatform().start(passive::disconnect);
    active.disconnect();
    ending.join();
    assertNull(listener.getRequest(Duration.ZERO));
    RdmaCmId lost = cm.createId(null, PortSpace.TCP, null);
    lost.resolveAddress(new InetSocketAddress(here, 0), new InetSocketAddress(there, 9), SOON);
    lost.resolveRoute(SOON);
    VerbsException refused = assertThrows(VerbsException.class, () -> lost.connect(null));
    assertEquals(Errno.ECONNREFUSED, refused.errno());
    assertEquals(8, lost.event().status());
  }

  @Test
  public void eventsComeByHandlerAndBySelector() throws Exception {
    RdmaCmId listener = listen(PortSpace.TCP, there);
    BlockingQueue<RdmaCmEvent> heard = new LinkedBlockingQueue<>();
    server.handler(heard::add);
    try (Selector selector = Selector.open()) {
      client.selectable().register(selector, SelectionKey.OP_READ);
      assertEquals(0, selector.selectNow());
      RdmaCmId active = cm.createId(client, PortSpace.TCP, null);
      active.resolveAddress(
          new InetSocketAddress(here, 0), new InetSocketAddress(there, listener.localAddress().getPort()), SOON);
      assertEquals(1, selector.select(PATIENCE.toMillis()));
      selector.selectedKeys().clear();
      next(client, RdmaCmEventType.ADDR_RESOLVED);
      assertEquals("all taken", 0, selector.selectNow());
      active.resolveRoute(SOON);
      next(client, RdmaCmEventType.ROUTE_RESOLVED);
      active.connect(ConnectionParameters.DEFAULT.withQueuePair(5, false));
      RdmaCmEvent request = heard.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS);
      assertEquals(RdmaCmEventType.CONNECT_REQUEST, request.type());
      request.id().close();
      assertEquals(1, selector.select(PATIENCE.toMillis()));
      assertEquals(28, next(client, RdmaCmEventType.REJECTED).status());
    }
  }

  @Test
  public void aListenerOnAllAddressesFollowsTheDevices() throws Exception {
    RdmaCmId listener = cm.createId(server, PortSpace.TCP, null);
    listener.bindAddress(new InetSocketAddress("0.0.0.0", 0));
    listener.listen(0);
    int port = listener.localAddress().getPort();
    there = InetAddress.getByName(Links.address(2));
    RdmaCmId early = cm.createId(client, PortSpace.TCP, null);
    early.resolveAddress(null, new InetSocketAddress(there, port), SOON);
    assertTrue(client.getEvent(PATIENCE).type() != RdmaCmEventType.ROUTE_RESOLVED);
    links.add("it2", Links.address(2));
    for (int i = 0; i < 3; i++) {
      RdmaCmId active = resolved(PortSpace.TCP, port);
      active.connect(ConnectionParameters.DEFAULT.withQueuePair(5, false));
      RdmaCmEvent request = next(server, RdmaCmEventType.CONNECT_REQUEST);
      assertEquals("it2", request.id().verbs().deviceName());
      links.remove("it2");
      RdmaCmEvent gone = next(server, RdmaCmEventType.DEVICE_REMOVAL);
      assertSame(request.id(), gone.id());
      assertEquals(RdmaCmState.LISTEN, listener.state());
      assertEquals(28, next(client, RdmaCmEventType.REJECTED).status());
      VerbsException refused = assertThrows(VerbsException.class, () -> request.id().accept(null));
      assertEquals(Errno.ENODEV, refused.errno());
      links.add("it2", Links.address(2));
    }
  }

  @Test
  public void connectionsHearThatTheirDeviceGoes() throws Exception {
    Connection made = connect();
    links.remove("it0");
    RdmaCmEvent gone = next(client, RdmaCmEventType.DEVICE_REMOVAL);
    assertSame(made.active(), gone.id());
    assertEquals("the peer hears of it at once", 0, next(server, RdmaCmEventType.DISCONNECTED).status());
    assertNull("no other event follows", client.getEvent(Duration.ofMillis(300)));
    assertEquals(
        Errno.ENODEV, assertThrows(VerbsException.class, () -> made.active().disconnect()).errno());
    made.active().close();
  }

  @Test
  public void theCardConnectsLikeTheOther() throws Exception {
    card = new PluggedCard(context, configurations);
    links.await("mlx5_0");
    there = InetAddress.getByName(PluggedCard.ADDRESS);
    Connection made = connect();
    assertEquals("mlx5_0", made.passive().verbs().deviceName());
    exchange(made.active().qp(), made.passive().qp());
    made.passive().disconnect();
    next(client, RdmaCmEventType.DISCONNECTED);
  }

  @Test
  public void whatIsSetAtOneEndIsSeenAtTheOther() {
    RdmaCmId listener = listen(PortSpace.TCP, there);
    RdmaCmId active = cm.createId(client, PortSpace.TCP, null);
    active.typeOfService(0x48);
    active.ackTimeout(15);
    active.localEce(new Ece(0x15b3, 0x1234));
    active.resolveAddress(
        new InetSocketAddress(here, 0), new InetSocketAddress(there, listener.localAddress().getPort()), SOON);
    next(client, RdmaCmEventType.ADDR_RESOLVED);
    active.resolveRoute(SOON);
    next(client, RdmaCmEventType.ROUTE_RESOLVED);
    active.createQp(null, attributes(QpType.RC));
    active.connect(ConnectionParameters.DEFAULT.withRetries(3, 5));
    RdmaCmEvent request = next(server, RdmaCmEventType.CONNECT_REQUEST);
    assertEquals(new Ece(0x15b3, 0x1234), request.ece());
    assertEquals(3, request.connection().retryCount());
    assertEquals(5, request.connection().rnrRetryCount());
    RdmaCmId passive = request.id();
    assertEquals(request.ece(), passive.remoteEce());
    assertEquals(0x48, passive.route().trafficClass());
    assertEquals(active.route().mtu(), passive.route().mtu());
    passive.createQp(null, attributes(QpType.RC));
    passive.localEce(new Ece(0x15b3, 0x0234));
    passive.accept(ConnectionParameters.DEFAULT.withDepths(1, 1));
    RdmaCmEvent answer = next(client, RdmaCmEventType.ESTABLISHED);
    assertEquals(new Ece(0x15b3, 0x0234), answer.ece());
    next(server, RdmaCmEventType.ESTABLISHED);
    assertEquals(15, active.qp().query().timeout());
    assertEquals(1, active.qp().query().maxRdAtomic());
    QpAttributes served = passive.qp().query();
    assertEquals(3, served.retryCount());
    assertEquals(5, served.rnrRetry());
    VerbsException again = assertThrows(VerbsException.class, () -> passive.accept(null));
    assertEquals(Errno.EINVAL, again.errno());
    exchange(active.qp(), passive.qp());
    active.disconnect();
    passive.disconnect();
    next(client, RdmaCmEventType.DISCONNECTED);
    next(server, RdmaCmEventType.DISCONNECTED);
  }

  @Test
  public void aListenerOfBothFamiliesHearsRequestsOverIpv4() {
    RdmaCmId both = cm.createId(server, PortSpace.TCP, null);
    both.bindAddress(new InetSocketAddress("::", 0));
    both.listen(0);
    RdmaCmId active = resolved(PortSpace.TCP, both.localAddress().getPort());
    active.connect(ConnectionParameters.DEFAULT.withQueuePair(5, false));
    RdmaCmEvent request = next(server, RdmaCmEventType.CONNECT_REQUEST);
    assertEquals(active.localAddress(), request.id().remoteAddress());
    request.id().rejectEce(text("other options"));
    assertEquals(35, next(client, RdmaCmEventType.REJECTED).status());
    RdmaCmId only = cm.createId(server, PortSpace.TCP, null);
    only.addressFamilyOnly(true);
    only.bindAddress(new InetSocketAddress("::", 0));
    only.listen(0);
    RdmaCmId next = resolved(PortSpace.TCP, only.localAddress().getPort());
    next.connect(ConnectionParameters.DEFAULT.withQueuePair(5, false));
    assertEquals("as in Linux", 28, next(client, RdmaCmEventType.REJECTED).status());
  }

  @Test
  public void aLoopbackAddressMayBeThatOfAnotherProcess() throws Exception {
    InetAddress other = InetAddress.getByName(Links.address(7));
    RdmaCmId id = cm.createId(client, PortSpace.TCP, null);
    id.resolveAddress(null, new InetSocketAddress(other, 7), SOON);
    next(client, RdmaCmEventType.ADDR_RESOLVED);
    id.resolveRoute(SOON);
    next(client, RdmaCmEventType.ROUTE_RESOLVED);
    assertEquals(Gid.of(other), id.route().destination());
    assertTrue(id.localAddress().toString(), id.localAddress().getAddress().isLoopbackAddress());
  }

  @Test
  public void whatIsTooMuchIsRefusedAndNothingIsLost() {
    RdmaCmId listener = listen(PortSpace.TCP, there);
    RdmaCmId active = resolved(PortSpace.TCP, listener.localAddress().getPort());
    active.createQp(null, attributes(QpType.RC));
    List<ConnectionParameters> all =
        List.of(
            ConnectionParameters.DEFAULT.withPrivateData(new byte[57]),
            ConnectionParameters.DEFAULT.withDepths(256, 1),
            ConnectionParameters.DEFAULT.withRetries(8, 7),
            ConnectionParameters.DEFAULT.withRetries(7, -1));
    for (ConnectionParameters bad : all) {
      assertEquals(Errno.EINVAL, assertThrows(VerbsException.class, () -> active.connect(bad)).errno());
      assertEquals(RdmaCmState.ROUTE_RESOLVED, active.state());
    }
    active.connect(ConnectionParameters.DEFAULT.withPrivateData(new byte[56]));
    RdmaCmId passive = next(server, RdmaCmEventType.CONNECT_REQUEST).id();
    passive.createQp(null, attributes(QpType.RC));
    ConnectionParameters tooMuch = ConnectionParameters.DEFAULT.withPrivateData(new byte[197]);
    assertEquals(Errno.EINVAL, assertThrows(VerbsException.class, () -> passive.accept(tooMuch)).errno());
    assertEquals(
        Errno.EINVAL, assertThrows(VerbsException.class, () -> passive.reject(new byte[149])).errno());
    passive.accept(ConnectionParameters.DEFAULT.withPrivateData(new byte[196]));
    next(client, RdmaCmEventType.ESTABLISHED);
    next(server, RdmaCmEventType.ESTABLISHED);
    exchange(active.qp(), passive.qp());
  }

  @Test
  public void manyConnectionsLeaveNothing() {
    List<Connection> all = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      all.add(connect());
    }
    for (Connection each : all) {
      exchange(each.active().qp(), each.passive().qp());
    }
    all.forEach(
        each -> {
          each.active().close();
          next(server, RdmaCmEventType.DISCONNECTED);
          each.passive().close();
          each.listener().close();
        });
    assertEquals(List.of(), cm.resources());
  }
}
