package org.rdma4j.roce.link;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.packet.Icrc;
import org.rdma4j.roce.packet.IcrcCalculator;

/** The checks of {@link NetworkNamespaceTest}, one by name; fails by an exception. */
final class WireProbe {
  private static final Gid A4 = Gid.parse("::ffff:192.0.2.1");
  private static final Gid B4 = Gid.parse("::ffff:192.0.2.2");
  private static final Gid A6 = Gid.parse("2001:db8::1");
  private static final Gid B6 = Gid.parse("2001:db8::2");
  private static final int LENGTH = 1036;
  private static final int SHORT_LENGTH = 500;
  private static final int PACKETS = 40;

  private WireProbe() {}

  public static void main(String[] args) throws IOException {
    switch (args[0]) {
      case "segmentedIpv4OnTheWire" -> onTheWire(UdpLinkConfig.DEFAULT, A4, B4, true);
      case "singleIpv4OnTheWire" -> onTheWire(UdpLinkConfig.DEFAULT.withOffloads(false, false), A4, B4, false);
      case "segmentedIpv6OnTheWire" -> onTheWire(UdpLinkConfig.DEFAULT, A6, B6, true);
      case "ipv6" -> bothWays(A6, B6);
      case "linkLocal" -> bothWays(Gid.parse("fe80::1"), Gid.parse("fe80::2"));
      case "udpChecksumZero" -> udpChecksumZero();
      case "nioMissesUdpChecksumZero" -> nioMissesUdpChecksumZero();
      case "pathTooNarrow" -> pathTooNarrow();
      case "multicast" -> multicast();
      case "multicastToAnother" -> {
        multicastToAnother("::ffff:192.0.2.", "::ffff:224.99.1.1", args);
        multicastToAnother("2001:db8::", "ff0e::99:1", args);
        multicastToAnother("2001:db8::", "ff02::99:1", args);
      }
      default -> throw new IllegalArgumentException(args[0]);
    }
  }

  private static int length(int packet) {
    return packet == PACKETS - 1 ? SHORT_LENGTH : LENGTH;
  }

  private static void sendAll(Link link, Gid from, Gid to) {
    Route route = link.route(from, to, 0, 0, 64);
    for (int i = 0; i < PACKETS; i++) {
      LinkContractTest.put(link, route, LinkContractTest.bytes(length(i), i));
    }
    assertEquals(PACKETS, link.flush(), () -> link.counters().toString());
  }

  private static void receiveAll(Link link, Gid from, Gid to) {
    int[] count = new int[1];
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
    while (count[0] < PACKETS && System.nanoTime() < deadline) {
      link.await(TimeUnit.MILLISECONDS.toNanos(100));
      link.receive(
          packet -> {
            byte[] bytes = packet.buffer().asSlice(packet.offset(), packet.length()).toArray(JAVA_BYTE);
            assertTrue(Arrays.equals(LinkContractTest.bytes(length(count[0]), count[0]), bytes));
            assertEquals(from, new Gid(packet.sourceHi(), packet.sourceLo()));
            assertEquals(to, new Gid(packet.destinationHi(), packet.destinationLo()));
            count[0]++;
          },
          64);
    }
    assertEquals(PACKETS, count[0], () -> link.counters().toString());
    assertEquals(0, link.counters().get(LinkCounter.ICRC_FAILED));
  }

  /** What leaves through the device: headers as they are there, and an ICRC that is right for them. */
  private static void onTheWire(UdpLinkConfig config, Gid from, Gid to, boolean segmented) {
    try (Sniffer sniffer = new Sniffer();
        UdpLink a = new UdpLink(config);
        UdpLink b = new UdpLink(config)) {
      a.addAddress(from);
      b.addAddress(to);
      sendAll(a, from, to);
      assertEquals(segmented ? 1 : PACKETS, segmented ? a.counters().get(LinkCounter.SEND_CALLS) : PACKETS);
      receiveAll(b, from, to);
      List<byte[]> packets = sniffer.outgoing();
      assertEquals(PACKETS, packets.size(), "datagrams on the wire");
      for (int i = 0; i < PACKETS; i++) {
        if (from.isIpv4Mapped()) {
          checkIpv4(packets.get(i), length(i), segmented ? i : 0);
        } else {
          checkIpv6(packets.get(i), from, to, length(i));
        }
      }
    }
  }

  private static void checkIpv4(byte[] datagram, int length, int identification) {
    ByteBuffer ip = ByteBuffer.wrap(datagram);
    assertEquals(0x45, ip.get(0));
    assertEquals(28 + length + 4, ip.getShort(2) & 0xffff);
    assertEquals(identification, ip.getShort(4) & 0xffff, "identification");
    assertEquals(0x4000, ip.getShort(6) & 0xffff, "don't fragment");
    assertEquals(64, ip.get(8));
    assertEquals(4791, ip.getShort(22) & 0xffff);
    int icrc =
        new IcrcCalculator(MemorySegment.ofArray(datagram))
            .ipv4(
                ip.getInt(12),
                ip.getInt(16),
                ip.getShort(4) & 0xffff,
                ip.getShort(6) & 0xffff,
                ip.getShort(20) & 0xffff,
                ip.getShort(22) & 0xffff,
                28,
                length);
    assertEquals(icrc, Icrc.read(MemorySegment.ofArray(datagram), 28 + length), "ICRC");
  }

  private static void checkIpv6(byte[] datagram, Gid from, Gid to, int length) {
    ByteBuffer ip = ByteBuffer.wrap(datagram);
    assertEquals(8 + length + 4, ip.getShort(4) & 0xffff);
    assertEquals(64, ip.get(7));
    int icrc =
        new IcrcCalculator(MemorySegment.ofArray(datagram))
            .ipv6(
                from.hi(), from.lo(), to.hi(), to.lo(), ip.getShort(40) & 0xffff, ip.getShort(42) & 0xffff, 48,
                length);
    assertEquals(icrc, Icrc.read(MemorySegment.ofArray(datagram), 48 + length), "ICRC");
  }

  private static void bothWays(Gid one, Gid other) {
    try (UdpLink a = new UdpLink(UdpLinkConfig.DEFAULT);
        UdpLink b = new UdpLink(UdpLinkConfig.DEFAULT)) {
      a.addAddress(one);
      b.addAddress(other);
      sendAll(a, one, other);
      receiveAll(b, one, other);
      sendAll(b, other, one);
      receiveAll(a, other, one);
    }
    try (NioUdpLink a = new NioUdpLink(UdpLinkConfig.DEFAULT);
        UdpLink b = new UdpLink(UdpLinkConfig.DEFAULT)) {
      a.addAddress(one);
      b.addAddress(other);
      sendAll(a, one, other);
      receiveAll(b, one, other);
      sendAll(b, other, one);
      receiveAll(a, other, one);
    }
  }

  private static void multicast() {
    for (Gid group : List.of(Gid.parse("ff0e::1:2"), Gid.parse("ff02::1:2"), Gid.parse("::ffff:224.1.2.3"))) {
      Gid from = group.isIpv4Mapped() ? A4 : A6;
      Gid other = group.isIpv4Mapped() ? B4 : B6;
      try (UdpLink a = new UdpLink(UdpLinkConfig.DEFAULT);
          NioUdpLink b = new NioUdpLink(UdpLinkConfig.DEFAULT)) {
        a.addAddress(from);
        b.addAddress(other);
        a.joinGroup(group);
        b.joinGroup(group);
        sendAll(a, from, group);
        receiveAll(a, from, group);
        receiveAll(b, from, group);
        sendAll(b, other, group);
        receiveAll(a, other, group);
        receiveAll(b, other, group);
      }
    }
  }

  /** Sends to a group until what the other host sends to it has come often enough; both do that at once. */
  private static void multicastToAnother(String network, String groupAddress, String[] args) {
    Gid self = Gid.parse(network + args[1]);
    Gid peer = Gid.parse(network + args[2]);
    Gid group = Gid.parse(groupAddress);
    boolean nio = args[1].equals("2") && group.isIpv4Mapped();
    try (Link link = nio ? new NioUdpLink(UdpLinkConfig.DEFAULT) : new UdpLink(UdpLinkConfig.DEFAULT)) {
      link.addAddress(self);
      link.joinGroup(group);
      Route route = link.route(self, group, 0, 0, 3);
      int[] seen = new int[2];
      long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
      // A few more after the last one that was waited for, since the other may still wait for its own.
      for (int more = 10; more > 0 && System.nanoTime() < deadline; ) {
        more -= seen[0] > 0 && seen[1] >= 3 ? 1 : 0;
        LinkContractTest.put(link, route, LinkContractTest.bytes(LENGTH, 1));
        link.flush();
        long next = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(20);
        while (System.nanoTime() < next) {
          link.await(next - System.nanoTime());
          link.receive(packet -> seen[countMulticast(packet, self, peer, group)]++, 64);
        }
      }
      assertTrue(seen[0] > 0 && seen[1] >= 3, () -> group + ": own " + seen[0] + ", other " + seen[1]);
      assertEquals(0, link.counters().get(LinkCounter.ICRC_FAILED));
      assertEquals(0, link.counters().get(LinkCounter.SEND_ERRORS));
    }
  }

  /** 0 for an own packet, 1 for one of the other host. */
  private static int countMulticast(ReceivedPacket packet, Gid self, Gid peer, Gid group) {
    byte[] bytes = packet.buffer().asSlice(packet.offset(), packet.length()).toArray(JAVA_BYTE);
    assertTrue(Arrays.equals(LinkContractTest.bytes(LENGTH, 1), bytes));
    assertEquals(group, new Gid(packet.destinationHi(), packet.destinationLo()));
    Gid source = new Gid(packet.sourceHi(), packet.sourceLo());
    assertTrue(source.equals(self) || source.equals(peer), source.toString());
    return source.equals(self) ? 0 : 1;
  }

  /** Sends IPv6 datagrams with UDP checksum 0, as rdma_rxe does; with it Linux refuses to split. */
  private static final class ChecksumZero extends Linux {
    private static final int UDP_NO_CHECK6_TX = 101;

    @Override
    int bind(int fd, MemorySegment address) {
      assertEquals(0, setOption(fd, SOL_UDP, UDP_NO_CHECK6_TX, 1));
      return super.bind(fd, address);
    }
  }

  private static void udpChecksumZero() {
    try (Sniffer sniffer = new Sniffer();
        UdpLink a = new UdpLink(UdpLinkConfig.DEFAULT, new ChecksumZero());
        UdpLink b = new UdpLink(UdpLinkConfig.DEFAULT)) {
      a.addAddress(A6);
      b.addAddress(B6);
      sendAll(a, A6, B6);
      receiveAll(b, A6, B6);
      for (byte[] datagram : sniffer.outgoing()) {
        assertEquals(0, ByteBuffer.wrap(datagram).getShort(46), "UDP checksum");
      }
    }
  }

  private static void nioMissesUdpChecksumZero() throws IOException {
    try (UdpLink a = new UdpLink(UdpLinkConfig.DEFAULT, new ChecksumZero());
        NioUdpLink b = new NioUdpLink(UdpLinkConfig.DEFAULT)) {
      a.addAddress(A6);
      b.addAddress(B6);
      sendAll(a, A6, B6);
      // Loopback delivers before the send call returns, so the refusal is counted by now.
      assertEquals(PACKETS, udp6ChecksumErrors());
      assertEquals(0, b.receive(packet -> {}, 64));
    }
  }

  private static int udp6ChecksumErrors() throws IOException {
    for (String line : Files.readAllLines(Path.of("/proc/self/net/snmp6"))) {
      if (line.startsWith("Udp6InCsumErrors")) {
        return Integer.parseInt(line.substring(line.lastIndexOf('\t') + 1).strip());
      }
    }
    throw new IOException("no Udp6InCsumErrors in snmp6");
  }

  /** A path MTU below the packets: they are dropped and counted, smaller ones pass. */
  private static void pathTooNarrow() throws IOException {
    try (UdpLink a = new UdpLink(UdpLinkConfig.DEFAULT);
        UdpLink b = new UdpLink(UdpLinkConfig.DEFAULT)) {
      a.addAddress(A4);
      b.addAddress(B4);
      Process narrow = new ProcessBuilder("ip", "link", "set", "lo", "mtu", "1400").inheritIO().start();
      assertEquals(0, narrow.onExit().join().exitValue());
      Route route = a.route(A4, B4, 0, 0, 64);
      for (int length : new int[] {4108, 4108, 2060, 1024, 1024}) {
        LinkContractTest.put(a, route, new byte[length]);
      }
      assertEquals(2, a.flush());
      assertEquals(3, a.counters().get(LinkCounter.SEND_ERRORS));
      int[] got = new int[1];
      long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
      while (got[0] < 2 && System.nanoTime() < deadline) {
        b.await(TimeUnit.MILLISECONDS.toNanos(100));
        got[0] += b.receive(packet -> assertEquals(1024, packet.length()), 8);
      }
      assertEquals(2, got[0]);
    }
  }

  /** Sees all IP packets of all devices of the namespace, from IP header on. */
  private static final class Sniffer implements AutoCloseable {
    private static final int AF_PACKET = 17;
    private static final int ETH_P_ALL_BIG_ENDIAN = 0x0300;
    private static final int PACKET_OUTGOING = 4;
    private static final int LINK_ADDRESS_SIZE = 20;
    private static final int LINK_ADDRESS_PACKET_TYPE = 10;
    private static final int BUFFER_SIZE = 70_000;

    private final Linux linux = new Linux();
    private final int fd;

    Sniffer() {
      fd = linux.socket(AF_PACKET, Linux.SOCK_DGRAM | Linux.SOCK_NONBLOCK, ETH_P_ALL_BIG_ENDIAN);
      assertTrue(fd >= 0, "packet socket: errno " + -fd);
      assertEquals(0, linux.setOption(fd, Linux.SOL_SOCKET, Linux.SO_RCVBUF, 4 << 20));
    }

    /** What left until now; each packet is seen by loopback's send call itself. */
    List<byte[]> outgoing() {
      List<byte[]> packets = new ArrayList<>();
      try (Arena arena = Arena.ofConfined()) {
        MemorySegment buffer = arena.allocate(BUFFER_SIZE);
        MemorySegment name = arena.allocate(LINK_ADDRESS_SIZE, 8);
        MemorySegment vector = arena.allocate(Linux.IOVEC_SIZE, 8);
        vector.set(JAVA_LONG, Linux.IOV_BASE, buffer.address());
        vector.set(JAVA_LONG, Linux.IOV_LEN, BUFFER_SIZE);
        MemorySegment header = arena.allocate(Linux.MMSGHDR_SIZE, 8);
        header.set(JAVA_LONG, Linux.MSG_NAME, name.address());
        header.set(JAVA_LONG, Linux.MSG_IOV, vector.address());
        header.set(JAVA_LONG, Linux.MSG_IOVLEN, 1);
        header.set(JAVA_INT, Linux.MSG_NAMELEN, LINK_ADDRESS_SIZE);
        while (linux.receiveMessages(fd, header.address(), 1) == 1) {
          if (name.get(JAVA_BYTE, LINK_ADDRESS_PACKET_TYPE) == PACKET_OUTGOING) {
            packets.add(buffer.asSlice(0, header.get(JAVA_INT, Linux.MSG_LEN)).toArray(JAVA_BYTE));
          }
          header.set(JAVA_INT, Linux.MSG_NAMELEN, LINK_ADDRESS_SIZE);
        }
      }
      return packets;
    }

    @Override
    public void close() {
      linux.close(fd);
    }
  }
}
