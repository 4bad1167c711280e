package org.rdma4j.roce.link;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.rdma4j.roce.address.Gid;

/** What every link must do, whatever it is made of. */
@Timeout(60)
abstract class LinkContractTest {
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final List<Link> opened = new ArrayList<>();
  final List<Received> received = new ArrayList<>();

  /** Opens a link without addresses. */
  abstract Link newLink();

  /** An address that a link here can have; different ones for different numbers from 1 to 9. */
  abstract Gid address(int number);

  /** What a receiver got. */
  record Received(byte[] bytes, Gid source, Gid destination, int trafficClass, int hopLimit, int identification) {}

  final Link open(Gid... addresses) {
    Link link = newLink();
    opened.add(link);
    for (Gid gid : addresses) {
      link.addAddress(gid);
    }
    return link;
  }

  @AfterEach
  final void closeAll() {
    opened.forEach(Link::close);
  }

  static byte[] bytes(int length, long seed) {
    byte[] bytes = new byte[length];
    new Random(seed).nextBytes(bytes);
    return bytes;
  }

  static void put(Link link, Route route, byte[] bytes) {
    long offset = link.claim(route, bytes.length);
    assertNotEquals(-1, offset, "no room");
    link.transmitMemory().asSlice(offset, bytes.length).copyFrom(MemorySegment.ofArray(bytes));
    link.commit();
  }

  final void record(ReceivedPacket packet) {
    byte[] bytes = packet.buffer().asSlice(packet.offset(), packet.length()).toArray(JAVA_BYTE);
    Gid source = new Gid(packet.sourceHi(), packet.sourceLo());
    Gid destination = new Gid(packet.destinationHi(), packet.destinationLo());
    received.add(
        new Received(
            bytes, source, destination, packet.trafficClass(), packet.hopLimit(), packet.identification()));
  }

  /** Receives until {@code count} packets have come in all. */
  final void receive(Link link, int count) {
    long deadline = System.nanoTime() + PATIENCE_NANOS;
    while (received.size() < count && System.nanoTime() < deadline) {
      link.await(TimeUnit.MILLISECONDS.toNanos(100));
      link.receive(this::record, 64);
    }
    assertEquals(count, received.size(), () -> "packets received; " + link.counters());
  }

  final LinkException fails(String errno, Executable call) {
    LinkException e = assertThrows(LinkException.class, call);
    assertEquals(errno, e.errnoName());
    assertTrue(e.errno() > 0);
    return e;
  }

  @Test
  void deliversEveryByteAndBothAddresses() {
    Link a = open(address(1));
    Link b = open(address(2));
    Route route = a.route(address(1), address(2), 0, 0, 64);
    int[] lengths = {12, 16, 28, 1036, 4108, a.maxPacketLength()};
    for (int length : lengths) {
      put(a, route, bytes(length, length));
    }
    assertEquals(lengths.length, a.flush());
    receive(b, lengths.length);
    for (int i = 0; i < lengths.length; i++) {
      Received packet = received.get(i);
      assertTrue(Arrays.equals(bytes(lengths[i], lengths[i]), packet.bytes()), "bytes of length " + lengths[i]);
      assertEquals(address(1), packet.source());
      assertEquals(address(2), packet.destination());
    }
    assertEquals(lengths.length, a.counters().get(LinkCounter.PACKETS_SENT));
    assertEquals(lengths.length, b.counters().get(LinkCounter.PACKETS_RECEIVED));
    assertEquals(Arrays.stream(lengths).sum(), a.counters().get(LinkCounter.BYTES_SENT));
    assertEquals(Arrays.stream(lengths).sum(), b.counters().get(LinkCounter.BYTES_RECEIVED));
  }

  @Test
  void carriesBurstsOfEqualPacketsWithAShorterLast() {
    Link a = open(address(1));
    Link b = open(address(2));
    Route route = a.route(address(1), address(2), 0, 0, 64);
    int sent = 0;
    for (int burst = 0; burst < 20; burst++) {
      int packets = 1 + burst;
      for (int i = 0; i < packets; i++) {
        put(a, route, bytes(i + 1 < packets ? 4108 : 1000, sent++));
      }
      assertEquals(packets, a.flush());
      receive(b, sent);
    }
    for (int i = 0; i < sent; i++) {
      byte[] got = received.get(i).bytes();
      assertTrue(Arrays.equals(bytes(got.length, i), got), "bytes of packet " + i);
    }
    assertEquals(0, b.counters().get(LinkCounter.ICRC_FAILED));
  }

  @Test
  void carriesManySmallPacketsOfOneFlush() {
    Link a = open(address(1));
    Link b = open(address(2));
    Route route = a.route(address(1), address(2), 0, 0, 64);
    for (int i = 0; i < 200; i++) {
      put(a, route, bytes(28, i));
    }
    assertEquals(200, a.flush());
    receive(b, 200);
    for (int i = 0; i < 200; i++) {
      assertTrue(Arrays.equals(bytes(28, i), received.get(i).bytes()), "bytes of packet " + i);
    }
  }

  @Test
  void mixesRoutesAndLengths() {
    Link a = open(address(1), address(3));
    Link b = open(address(2), address(4));
    Route[] routes = {
      a.route(address(1), address(2), 0, 0, 64),
      a.route(address(3), address(4), 0, 0, 64),
      a.route(address(1), address(4), 0, 0, 64)
    };
    Random random = new Random(7);
    int[] perRoute = new int[routes.length];
    for (int i = 0; i < 100; i++) {
      int choice = random.nextInt(routes.length);
      byte[] bytes = bytes(16 + 4 * random.nextInt(200), 0);
      bytes[0] = (byte) choice;
      bytes[1] = (byte) perRoute[choice]++;
      put(a, routes[choice], bytes);
    }
    assertEquals(100, a.flush());
    receive(b, 100);
    int[] seen = new int[routes.length];
    for (Received packet : received) {
      int choice = packet.bytes()[0];
      assertEquals(routes[choice].source(), packet.source());
      assertEquals(routes[choice].destination(), packet.destination());
      assertEquals(seen[choice]++, packet.bytes()[1], "order on route " + choice);
    }
    assertTrue(Arrays.equals(perRoute, seen));
  }

  @Test
  void sendsToItself() {
    Link a = open(address(1));
    Route route = a.route(address(1), address(1), 0, 0, 64);
    put(a, route, bytes(64, 1));
    a.flush();
    receive(a, 1);
    assertTrue(Arrays.equals(bytes(64, 1), received.getFirst().bytes()));
  }

  /** A group that other processes which run the same tests do not use. */
  final Gid group(int number) {
    return group(address(1).isIpv4Mapped(), number);
  }

  private static Gid group(boolean ipv4, int number) {
    if (!ipv4) {
      return Gid.parse("ff0e::" + Long.toHexString(ProcessHandle.current().pid() & 0xffff) + ":" + number);
    }
    return Gid.ofIpv4(239 << 24 | (int) (ProcessHandle.current().pid() & 0xffff) << 8 | number);
  }

  @Test
  void everyMemberOfAGroupGetsWhatIsSentToIt() {
    Link a = open(address(1), address(3));
    Link b = open(address(2));
    Link outside = open(address(4));
    a.joinGroup(group(1));
    b.joinGroup(group(1));
    outside.joinGroup(group(2));
    Route route = a.route(address(3), group(1), 0, 0, 64);
    for (int i = 0; i < 5; i++) {
      put(a, route, bytes(4108, i));
    }
    assertEquals(5, a.flush());
    for (Link member : List.of(a, b)) {
      received.clear();
      receive(member, 5);
      for (int i = 0; i < 5; i++) {
        assertTrue(Arrays.equals(bytes(4108, i), received.get(i).bytes()), "bytes of packet " + i);
        assertEquals(address(3), received.get(i).source());
        assertEquals(group(1), received.get(i).destination());
      }
    }
    assertEquals(0, outside.receive(this::record, 8));
    assertEquals(0, a.counters().get(LinkCounter.SEND_ERRORS));
  }

  @Test
  void groupsDoNotDisturbWhatIsSentToOne() {
    Link a = open(address(1));
    Link b = open(address(2));
    b.joinGroup(group(1));
    Route toGroup = a.route(address(1), group(1), 0, 0, 64);
    Route toOne = a.route(address(1), address(2), 0, 0, 64);
    for (int i = 0; i < 20; i++) {
      put(a, i % 2 == 0 ? toGroup : toOne, bytes(100, i));
    }
    assertEquals(20, a.flush());
    receive(b, 20);
    assertEquals(10, received.stream().filter(each -> each.destination().equals(group(1))).count());
  }

  @Test
  void whoLeavesAGroupGetsNothingMore() {
    Link a = open(address(1));
    Link b = open(address(2));
    a.joinGroup(group(1));
    b.joinGroup(group(1));
    Route route = a.route(address(1), group(1), 0, 0, 64);
    put(a, route, bytes(64, 1));
    a.flush();
    receive(b, 1);
    b.leaveGroup(group(1));
    put(a, route, bytes(64, 2));
    a.flush();
    received.clear();
    receive(a, 2);
    assertEquals(0, b.receive(this::record, 8));
    b.joinGroup(group(1));
    put(a, route, bytes(64, 3));
    a.flush();
    received.clear();
    receive(b, 1);
    assertTrue(Arrays.equals(bytes(64, 3), received.getFirst().bytes()));
  }

  @Test
  void groupsAreChecked() {
    Link link = open();
    fails("EADDRNOTAVAIL", () -> link.joinGroup(group(1)));
    link.addAddress(address(1));
    fails("EINVAL", () -> link.joinGroup(address(2)));
    fails("EADDRNOTAVAIL", () -> link.joinGroup(group(!address(1).isIpv4Mapped(), 1)));
    fails("EADDRNOTAVAIL", () -> link.leaveGroup(group(1)));
    link.joinGroup(group(1));
    fails("EADDRINUSE", () -> link.joinGroup(group(1)));
    fails("EINVAL", () -> link.addAddress(group(1)));
    fails("EADDRNOTAVAIL", () -> link.removeAddress(group(1)));
    fails("EADDRNOTAVAIL", () -> link.route(group(1), address(1), 0, 0, 0));
    link.leaveGroup(group(1));
    fails("EADDRNOTAVAIL", () -> link.leaveGroup(group(1)));
    link.close();
    fails("EBADF", () -> link.joinGroup(group(1)));
    fails("EBADF", () -> link.leaveGroup(group(1)));
  }

  @Test
  void abortSendsNothing() {
    Link a = open(address(1));
    Link b = open(address(2));
    Route route = a.route(address(1), address(2), 0, 0, 64);
    put(a, route, bytes(32, 1));
    a.claim(route, 32);
    a.abort();
    put(a, route, bytes(32, 2));
    assertEquals(2, a.flush());
    receive(b, 2);
    assertTrue(Arrays.equals(bytes(32, 1), received.get(0).bytes()));
    assertTrue(Arrays.equals(bytes(32, 2), received.get(1).bytes()));
  }

  @Test
  void flushBetweenClaimAndCommitKeepsTheClaimedPacket() {
    Link a = open(address(1));
    Link b = open(address(2));
    Route route = a.route(address(1), address(2), 0, 0, 64);
    put(a, route, bytes(100, 1));
    long offset = a.claim(route, 100);
    a.transmitMemory().asSlice(offset, 100).copyFrom(MemorySegment.ofArray(bytes(100, 2)));
    assertEquals(1, a.flush());
    a.commit();
    put(a, route, bytes(100, 3));
    assertEquals(2, a.flush());
    receive(b, 3);
    for (int i = 0; i < 3; i++) {
      assertTrue(Arrays.equals(bytes(100, i + 1), received.get(i).bytes()), "bytes of packet " + i);
    }
  }

  @Test
  void fullMemoryRefusesUntilFlushed() {
    Link a = open(address(1));
    open(address(2));
    Route route = a.route(address(1), address(2), 0, 0, 64);
    int taken = 0;
    while (a.claim(route, 4108) >= 0) {
      a.commit();
      taken++;
      assertTrue(taken < 100_000, "room never ends");
    }
    assertTrue(taken >= 16, "room for a burst of 64 KiB, not " + taken);
    assertEquals(taken, a.flush());
    assertTrue(a.claim(route, 4108) >= 0);
    a.abort();
  }

  @Test
  void misuseOfClaimIsRefused() {
    Link a = open(address(1));
    Link b = open(address(2));
    Route route = a.route(address(1), address(2), 0, 0, 64);
    assertThrows(IllegalStateException.class, a::commit);
    assertThrows(IllegalStateException.class, a::abort);
    assertThrows(IllegalArgumentException.class, () -> a.claim(route, 8));
    assertThrows(IllegalArgumentException.class, () -> a.claim(route, 30));
    assertThrows(IllegalArgumentException.class, () -> a.claim(route, a.maxPacketLength() + 4));
    assertThrows(IllegalArgumentException.class, () -> b.claim(route, 32));
    a.claim(route, 32);
    assertThrows(IllegalStateException.class, () -> a.claim(route, 32));
  }

  @Test
  void routesSayWhatTheyWereAskedFor() {
    Link a = open(address(1));
    Route route = a.route(address(1), address(2), 0x20, 0, 5);
    assertEquals(address(1), route.source());
    assertEquals(address(2), route.destination());
    assertEquals(0x20, route.trafficClass());
    assertEquals(5, route.hopLimit());
    assertEquals(64, a.route(address(1), address(2), 0, 0, 0).hopLimit());
  }

  @Test
  void impossibleRoutesAreRefused() {
    Link a = open(address(1));
    Gid other = address(1).isIpv4Mapped() ? Gid.parse("2001:db8::1") : Gid.parse("::ffff:192.0.2.1");
    Gid unspecified = address(1).isIpv4Mapped() ? Gid.ofIpv4(0) : Gid.ZERO;
    fails("EADDRNOTAVAIL", () -> a.route(address(2), address(1), 0, 0, 64));
    fails("EADDRNOTAVAIL", () -> a.route(address(1), other, 0, 0, 64));
    fails("ENETUNREACH", () -> a.route(address(1), unspecified, 0, 0, 64));
    fails("EINVAL", () -> a.route(address(1), address(2), 256, 0, 64));
    fails("EINVAL", () -> a.route(address(1), address(2), 0, 0x100000, 64));
    fails("EINVAL", () -> a.route(address(1), address(2), 0, 0, 256));
  }

  @Test
  void impossibleAddressesAreRefused() {
    Link a = open(address(1));
    Link b = open();
    fails("EADDRINUSE", () -> a.addAddress(address(1)));
    fails("EADDRINUSE", () -> b.addAddress(address(1)));
    fails("EINVAL", () -> a.addAddress(Gid.ZERO));
    fails("EINVAL", () -> a.addAddress(Gid.ofIpv4(0)));
    fails("EINVAL", () -> a.addAddress(Gid.parse("ff02::1")));
    fails("EINVAL", () -> a.addAddress(Gid.parse("::ffff:224.0.0.1")));
    fails("EADDRNOTAVAIL", () -> a.removeAddress(address(2)));
  }

  @Test
  void addressesCanBeRemovedAndAddedAgain() {
    Link a = open(address(1), address(3));
    Link b = open(address(2));
    Route gone = a.route(address(1), address(2), 0, 0, 64);
    Route stays = a.route(address(3), address(2), 0, 0, 64);
    put(a, gone, bytes(32, 1));
    put(a, stays, bytes(32, 2));
    a.removeAddress(address(1));
    assertEquals(1, a.flush());
    assertEquals(1, a.counters().get(LinkCounter.SEND_ERRORS));
    receive(b, 1);
    assertEquals(address(3), received.getFirst().source());
    a.addAddress(address(1));
    put(a, gone, bytes(32, 1));
    assertEquals(0, a.flush(), "a route ends with its address");
    put(a, a.route(address(1), address(2), 0, 0, 64), bytes(32, 1));
    assertEquals(1, a.flush());
    receive(b, 2);
    assertEquals(address(1), received.get(1).source());
  }

  @Test
  void packetsBehindAThrowingHandlerAreNotLost() {
    Link a = open(address(1));
    Link b = open(address(2));
    Route route = a.route(address(1), address(2), 0, 0, 64);
    for (int i = 0; i < 10; i++) {
      put(a, route, bytes(64, i));
    }
    a.flush();
    PacketHandler throwing =
        packet -> {
          record(packet);
          if (received.size() % 3 == 0) {
            throw new IllegalStateException("on purpose");
          }
        };
    long deadline = System.nanoTime() + PATIENCE_NANOS;
    int thrown = 0;
    while (received.size() < 10 && System.nanoTime() < deadline) {
      b.await(TimeUnit.MILLISECONDS.toNanos(100));
      try {
        b.receive(throwing, 64);
      } catch (IllegalStateException e) {
        thrown++;
      }
    }
    assertEquals(3, thrown);
    assertEquals(10, received.size());
    for (int i = 0; i < 10; i++) {
      assertTrue(Arrays.equals(bytes(64, i), received.get(i).bytes()), "bytes of packet " + i);
    }
  }

  @Test
  void limitIsKept() {
    Link a = open(address(1));
    Link b = open(address(2));
    Route route = a.route(address(1), address(2), 0, 0, 64);
    for (int i = 0; i < 30; i++) {
      put(a, route, bytes(64, i));
    }
    a.flush();
    int calls = 0;
    while (received.size() < 30) {
      b.await(TimeUnit.SECONDS.toNanos(5));
      assertTrue(b.receive(this::record, 7) <= 7);
      assertTrue(++calls < 1000, "packets are missing");
    }
    for (int i = 0; i < 30; i++) {
      assertTrue(Arrays.equals(bytes(64, i), received.get(i).bytes()), "bytes of packet " + i);
    }
  }

  @Test
  void handlerMaySend() {
    Link a = open(address(1));
    Link b = open(address(2));
    Route there = a.route(address(1), address(2), 0, 0, 64);
    Route back = b.route(address(2), address(1), 0, 0, 64);
    for (int i = 0; i < 5; i++) {
      put(a, there, bytes(64, i));
    }
    a.flush();
    int answered = 0;
    int calls = 0;
    while (answered < 5) {
      b.await(TimeUnit.SECONDS.toNanos(5));
      answered +=
          b.receive(
              packet -> {
                put(b, back, packet.buffer().asSlice(packet.offset(), packet.length()).toArray(JAVA_BYTE));
                b.flush();
              },
              64);
      assertTrue(++calls < 1000, "packets are missing");
    }
    receive(a, 5);
  }

  @Test
  void wakeupBeforeAwaitEndsItOnce() {
    Link a = open(address(1));
    a.wakeup();
    a.wakeup();
    long start = System.nanoTime();
    a.await(TimeUnit.SECONDS.toNanos(30));
    assertTrue(System.nanoTime() - start < TimeUnit.SECONDS.toNanos(20));
  }

  @Test
  void closedLinkRefusesQuietly() {
    Link a = open(address(1));
    Route route = a.route(address(1), address(2), 0, 0, 64);
    put(a, route, bytes(64, 1));
    a.close();
    a.close();
    assertEquals(-1, a.claim(route, 64));
    assertEquals(0, a.flush());
    assertEquals(0, a.receive(packet -> {}, 1));
    a.await(TimeUnit.SECONDS.toNanos(30));
    a.wakeup();
    fails("EBADF", () -> a.addAddress(address(2)));
    fails("EBADF", () -> a.removeAddress(address(1)));
    fails("EBADF", () -> a.route(address(1), address(2), 0, 0, 64));
    Link again = open(address(1));
    assertSame(again.counters(), again.counters());
    assertFalse(again.transmitMemory().byteSize() < 128 * 1024);
  }
}
