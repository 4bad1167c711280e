package org.rdma4j.roce.link;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.packet.Icrc;
import org.rdma4j.roce.packet.IcrcCalculator;

/** What every link over UDP sockets must do; on loopback addresses. */
abstract class UdpContractTest extends LinkContractTest {
  /** Loopback addresses of this process: others may run the same tests at the same time. */
  private static final int NETWORK = 127 << 24 | (int) (ProcessHandle.current().pid() & 0xffff) << 8;

  static final int PORT = UdpLinkConfig.ROCE_PORT;

  abstract Link newLink(UdpLinkConfig config);

  @Override
  final Link newLink() {
    return newLink(UdpLinkConfig.DEFAULT);
  }

  @Override
  Gid address(int number) {
    return Gid.ofIpv4(NETWORK | number + 1);
  }

  /** A datagram as another sender would make it, with its ICRC computed for an identification. */
  static byte[] datagram(Gid source, int sourcePort, Gid destination, int port, byte[] packet, int identification) {
    MemorySegment memory = MemorySegment.ofArray(Arrays.copyOf(packet, packet.length + Icrc.LENGTH));
    IcrcCalculator calculator = new IcrcCalculator(memory);
    int icrc =
        source.isIpv4Mapped()
            ? calculator.ipv4(
                source.ipv4(), destination.ipv4(), identification, IcrcCalculator.DONT_FRAGMENT, sourcePort, port, 0,
                packet.length)
            : calculator.ipv6(
                source.hi(), source.lo(), destination.hi(), destination.lo(), sourcePort, port, 0, packet.length);
    Icrc.write(memory, packet.length, icrc);
    return memory.toArray(JAVA_BYTE);
  }

  final void receiveWith(IcrcCheck check, int identification, boolean damaged, LinkCounter outcome, Integer expected)
      throws IOException {
    Link link = newLink(UdpLinkConfig.DEFAULT.withIcrcCheck(check));
    try (link;
        DatagramSocket socket = new DatagramSocket(new InetSocketAddress(address(7).toInetAddress(), 0))) {
      link.addAddress(address(6));
      byte[] bytes = bytes(300, 5);
      byte[] datagram = datagram(address(7), socket.getLocalPort(), address(6), PORT, bytes, identification);
      if (damaged) {
        // One bit: what it does to the CRC is no 16-bit difference at the identification's place.
        datagram[200] ^= 1;
      }
      socket.send(
          new DatagramPacket(
              datagram, datagram.length, new InetSocketAddress(address(6).toInetAddress(), PORT)));
      received.clear();
      long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
      while (link.counters().get(outcome) == 0 && System.nanoTime() < deadline) {
        link.await(TimeUnit.MILLISECONDS.toNanos(100));
        link.receive(this::record, 8);
      }
      assertEquals(1, link.counters().get(outcome), () -> "counters: " + link.counters());
      assertEquals(expected == null ? 0 : 1, received.size());
      if (expected != null) {
        assertEquals(expected, received.getFirst().identification());
        assertEquals(address(7), received.getFirst().source());
      }
    }
  }

  @Test
  void strictTakesIdentificationZeroOnly() throws IOException {
    receiveWith(IcrcCheck.STRICT, 0, false, LinkCounter.ICRC_OK, 0);
    receiveWith(IcrcCheck.STRICT, 0x1234, false, LinkCounter.ICRC_FAILED, null);
    receiveWith(IcrcCheck.STRICT, 0, true, LinkCounter.ICRC_FAILED, null);
  }

  @Test
  void recoverFindsTheIdentification() throws IOException {
    receiveWith(IcrcCheck.RECOVER, 0, false, LinkCounter.ICRC_OK, 0);
    receiveWith(IcrcCheck.RECOVER, 0x1234, false, LinkCounter.ICRC_RECOVERED, 0x1234);
    receiveWith(IcrcCheck.RECOVER, 0xffff, false, LinkCounter.ICRC_RECOVERED, 0xffff);
    receiveWith(IcrcCheck.RECOVER, 0x1234, true, LinkCounter.ICRC_FAILED, null);
  }

  @Test
  void offTakesEverything() throws IOException {
    receiveWith(IcrcCheck.OFF, 0x1234, false, LinkCounter.ICRC_UNCHECKED, ReceivedPacket.UNKNOWN);
    receiveWith(IcrcCheck.OFF, 0x1234, true, LinkCounter.ICRC_UNCHECKED, ReceivedPacket.UNKNOWN);
  }

  @Test
  void runtsAreCountedAndDropped() throws IOException {
    Link link = open(address(6));
    try (DatagramSocket socket = new DatagramSocket(new InetSocketAddress(address(7).toInetAddress(), 0))) {
      InetSocketAddress to = new InetSocketAddress(address(6).toInetAddress(), PORT);
      for (int length : new int[] {0, 1, 12, 15}) {
        socket.send(new DatagramPacket(new byte[length], length, to));
      }
    }
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
    while (link.counters().get(LinkCounter.RUNTS) < 4 && System.nanoTime() < deadline) {
      link.await(TimeUnit.MILLISECONDS.toNanos(100));
      assertEquals(0, link.receive(this::record, 8));
    }
    assertEquals(4, link.counters().get(LinkCounter.RUNTS), () -> "counters: " + link.counters());
  }

  @Test
  void addressOfAnotherMachineIsRefused() {
    Link link = open();
    LinkException e = fails("EADDRNOTAVAIL", () -> link.addAddress(Gid.parse("::ffff:192.0.2.77")));
    assertTrue(e.getMessage().contains("192.0.2.77"), e.getMessage());
    fails("EADDRNOTAVAIL", () -> link.addAddress(Gid.parse("fe80::dead:beef:1:2")));
  }

  @Test
  void portTakenByAnotherSocketIsRefused() throws IOException {
    Link link = open();
    try (DatagramSocket socket = new DatagramSocket(new InetSocketAddress(address(5).toInetAddress(), PORT))) {
      assertTrue(socket.isBound());
      fails("EADDRINUSE", () -> link.addAddress(address(5)));
    }
    link.addAddress(address(5));
  }

  @Test
  void noWakeupIsLost() throws InterruptedException {
    Link link = open(address(1));
    int rounds = 20_000;
    AtomicInteger work = new AtomicInteger();
    AtomicInteger done = new AtomicInteger();
    CountDownLatch finished = new CountDownLatch(1);
    Thread waiter =
        Thread.ofPlatform()
            .start(
                () -> {
                  while (done.get() < rounds) {
                    long start = System.nanoTime();
                    while (work.get() == done.get()) {
                      link.await(TimeUnit.SECONDS.toNanos(20));
                      if (System.nanoTime() - start > TimeUnit.SECONDS.toNanos(10)) {
                        return;
                      }
                    }
                    done.set(work.get());
                  }
                  finished.countDown();
                });
    for (int i = 1; i <= rounds; i++) {
      work.set(i);
      link.wakeup();
      // The next round starts the moment this one is seen, while the waiter is between its look and its wait; now and
      // then it does not wait for that.
      while (i % 7 != 0 && done.get() < i && waiter.isAlive()) {
        Thread.onSpinWait();
      }
    }
    assertTrue(finished.await(30, TimeUnit.SECONDS), "stuck at " + done.get());
    waiter.join(TimeUnit.SECONDS.toMillis(10));
  }

  @Test
  void absentReceiverDisturbsNobody() {
    Link a = open(address(1));
    Link b = open(address(2));
    Route toNobody = a.route(address(1), address(8), 0, 0, 64);
    Route route = a.route(address(1), address(2), 0, 0, 64);
    for (int i = 0; i < 3; i++) {
      put(a, toNobody, bytes(64, i));
      put(a, route, bytes(64, i));
      assertEquals(2, a.flush());
      assertEquals(0, a.receive(this::record, 8));
    }
    receive(b, 3);
    assertEquals(0, a.counters().get(LinkCounter.SEND_ERRORS));
  }

  @Test
  void packetsEndAwait() {
    Link a = open(address(1));
    Link b = open(address(2));
    put(a, a.route(address(1), address(2), 0, 0, 64), bytes(64, 1));
    a.flush();
    long start = System.nanoTime();
    b.await(TimeUnit.SECONDS.toNanos(30));
    assertTrue(System.nanoTime() - start < TimeUnit.SECONDS.toNanos(20));
    receive(b, 1);
  }

  /** Opens a link for IPv6, where there is one loopback address only. */
  final void sendsToItselfOverIpv6() {
    Gid loopback = Gid.parse("::1");
    Link link = newLink(UdpLinkConfig.DEFAULT.withPort(freeIpv6Port()));
    try (link) {
      link.addAddress(loopback);
      Route route = link.route(loopback, loopback, 0, 0, 64);
      for (int i = 0; i < 40; i++) {
        put(link, route, bytes(4108, i));
      }
      assertEquals(40, link.flush());
      receive(link, 40);
      for (int i = 0; i < 40; i++) {
        assertTrue(Arrays.equals(bytes(4108, i), received.get(i).bytes()), "bytes of packet " + i);
        assertEquals(loopback, received.get(i).source());
        assertEquals(ReceivedPacket.UNKNOWN, received.get(i).identification());
      }
      assertEquals(40, link.counters().get(LinkCounter.ICRC_OK));
    }
  }

  private static int freeIpv6Port() {
    try (DatagramSocket socket = new DatagramSocket(new InetSocketAddress("::1", 0))) {
      return socket.getLocalPort();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
