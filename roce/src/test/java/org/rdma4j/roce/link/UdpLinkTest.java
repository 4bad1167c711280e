package org.rdma4j.roce.link;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.rdma4j.roce.address.Gid;

@EnabledOnOs(value = OS.LINUX, disabledReason = "UdpLink is made of Linux system calls")
class UdpLinkTest extends UdpContractTest {
  @Override
  Link newLink(UdpLinkConfig config) {
    return new UdpLink(config);
  }

  /** The kernel, with failures on demand. */
  static final class FaultyLinux extends Linux {
    int failingCall = Integer.MAX_VALUE;
    int calls;
    boolean refuseSegmentation;
    int busyCalls;
    int sendErrno;

    private boolean fails() {
      return ++calls == failingCall;
    }

    @Override
    int socket(int family, int type, int protocol) {
      return fails() ? -LinkErrno.EMFILE.number() : super.socket(family, type, protocol);
    }

    @Override
    int bind(int fd, MemorySegment address) {
      return fails() ? -LinkErrno.EADDRINUSE.number() : super.bind(fd, address);
    }

    @Override
    int setOption(int fd, int level, int option, int value) {
      return fails() ? -LinkErrno.ENOPROTOOPT.number() : super.setOption(fd, level, option, value);
    }

    @Override
    int eventFd() {
      return fails() ? -LinkErrno.EMFILE.number() : super.eventFd();
    }

    @Override
    int sendTo(int fd, long data, long length, MemorySegment address) {
      int refusal = refusal();
      return refusal != 0 ? refusal : super.sendTo(fd, data, length, address);
    }

    @Override
    int sendMessages(int fd, long messages, int count) {
      int refusal = refusal();
      if (refusal != 0) {
        return refusal;
      }
      if (refuseSegmentation && controlLength(messages) > 0) {
        return -LinkErrno.EIO.number();
      }
      // Two at a time, to see that the rest follows.
      return super.sendMessages(fd, messages, Math.min(count, 2));
    }

    private int refusal() {
      if (busyCalls > 0) {
        busyCalls--;
        return -LinkErrno.EAGAIN.number();
      }
      int errno = sendErrno;
      sendErrno = 0;
      return -errno;
    }

    private static long controlLength(long message) {
      return MemorySegment.ofAddress(message)
          .reinterpret(Linux.MMSGHDR_SIZE)
          .get(JAVA_LONG, Linux.MSG_CONTROLLEN);
    }
  }

  private static long openSockets() throws IOException {
    long count = 0;
    try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
      for (Path descriptor : descriptors.toList()) {
        String target = linkTarget(descriptor);
        if (target.startsWith("socket:") || target.contains("eventfd")) {
          count++;
        }
      }
    }
    return count;
  }

  private static String linkTarget(Path descriptor) {
    try {
      return Files.readSymbolicLink(descriptor).toString();
    } catch (IOException e) {
      return "";
    }
  }

  @Test
  void noDescriptorStaysOpenWhenAStepFails() throws IOException {
    newLink().close();
    long before = openSockets();
    int failures = 0;
    for (int failing = 1; ; failing++) {
      FaultyLinux linux = new FaultyLinux();
      linux.failingCall = failing;
      boolean failed = false;
      try (UdpLink link = new UdpLink(UdpLinkConfig.DEFAULT, linux)) {
        link.addAddress(address(1));
      } catch (LinkException e) {
        failed = true;
        failures++;
      }
      assertEquals(before, openSockets(), "open descriptors after failure of call " + failing);
      if (linux.calls < failing) {
        assertFalse(failed);
        break;
      }
    }
    assertTrue(failures >= 6, "steps that must not fail: " + failures);
  }

  @Test
  void failedAddressLeavesTheLinkUsable() throws IOException {
    Link a = open(address(1));
    long before = openSockets();
    for (int i = 0; i < 10; i++) {
      assertThrows(LinkException.class, () -> a.addAddress(Gid.parse("2001:db8::1")));
    }
    assertEquals(before, openSockets());
    put(a, a.route(address(1), address(1), 0, 0, 64), bytes(64, 1));
    a.flush();
    receive(a, 1);
  }

  @Test
  void withoutSegmentationEveryPacketStillArrives() {
    FaultyLinux linux = new FaultyLinux();
    linux.refuseSegmentation = true;
    Link b = open(address(2));
    try (UdpLink a = new UdpLink(UdpLinkConfig.DEFAULT, linux)) {
      a.addAddress(address(1));
      Route route = a.route(address(1), address(2), 0, 0, 64);
      for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 20; i++) {
          put(a, route, bytes(1036, i));
        }
        assertEquals(20, a.flush());
      }
      receive(b, 40);
      for (int i = 0; i < 40; i++) {
        assertTrue(Arrays.equals(bytes(1036, i % 20), received.get(i).bytes()), "bytes of packet " + i);
      }
      assertEquals(40, b.counters().get(LinkCounter.ICRC_OK), "identification 0 in each");
      assertEquals(0, a.counters().get(LinkCounter.SEND_ERRORS));
    }
  }

  @Test
  void busySocketKeepsPacketsInOrder() {
    FaultyLinux linux = new FaultyLinux();
    Link b = open(address(2));
    try (UdpLink a = new UdpLink(UdpLinkConfig.DEFAULT, linux)) {
      a.addAddress(address(1));
      Route route = a.route(address(1), address(2), 0, 0, 64);
      for (int i = 0; i < 10; i++) {
        put(a, route, bytes(64 + 4 * i, i));
      }
      linux.busyCalls = 2;
      assertEquals(0, a.flush());
      put(a, route, bytes(64 + 40, 10));
      assertEquals(0, a.flush());
      assertEquals(11, a.flush());
      assertEquals(2, a.counters().get(LinkCounter.SEND_BUSY));
    }
    receive(b, 11);
    for (int i = 0; i < 11; i++) {
      assertTrue(Arrays.equals(bytes(64 + 4 * i, i), received.get(i).bytes()), "bytes of packet " + i);
    }
  }

  @Test
  void refusedPacketsAreCountedAndTheRestGoesOn() {
    FaultyLinux linux = new FaultyLinux();
    Link b = open(address(2));
    try (UdpLink a = new UdpLink(UdpLinkConfig.DEFAULT, linux)) {
      a.addAddress(address(1));
      Route route = a.route(address(1), address(2), 0, 0, 64);
      put(a, route, bytes(64, 0));
      put(a, route, bytes(68, 1));
      linux.sendErrno = LinkErrno.EPERM.number();
      assertEquals(1, a.flush());
      assertEquals(1, a.counters().get(LinkCounter.SEND_ERRORS));
      put(a, route, bytes(64, 0));
      linux.sendErrno = LinkErrno.ENETUNREACH.number();
      assertEquals(0, a.flush());
      assertEquals(2, a.counters().get(LinkCounter.SEND_ERRORS));
    }
    receive(b, 1);
    assertTrue(Arrays.equals(bytes(68, 1), received.getFirst().bytes()));
  }

  @Test
  void unreachableDestinationIsCounted() {
    Link a = open(address(1));
    // From a loopback address to a host outside, Linux refuses to route (EINVAL).
    Route route = a.route(address(1), Gid.parse("::ffff:192.0.2.1"), 0, 0, 64);
    put(a, route, bytes(64, 1));
    assertEquals(0, a.flush());
    assertEquals(1, a.counters().get(LinkCounter.SEND_ERRORS));
  }

  @Test
  void headersOfTheIpLayerAreSeen() {
    Link a = open(address(1));
    Link b = open(address(2));
    put(a, a.route(address(1), address(2), 0x68, 0, 7), bytes(64, 1));
    put(a, a.route(address(1), address(2), 0, 0, 0), bytes(64, 2));
    assertEquals(2, a.flush());
    receive(b, 2);
    assertEquals(0x68, received.get(0).trafficClass());
    assertEquals(7, received.get(0).hopLimit());
    assertEquals(0, received.get(1).trafficClass());
    assertEquals(64, received.get(1).hopLimit());
  }

  @Test
  void burstsGoAsOneMessageEach() {
    Link a = open(address(1));
    Link b = open(address(2));
    Route route = a.route(address(1), address(2), 0, 0, 64);
    for (int i = 0; i < 30; i++) {
      put(a, route, bytes(4108, i));
    }
    assertEquals(30, a.flush());
    assertEquals(1, a.counters().get(LinkCounter.SEND_CALLS));
    receive(b, 30);
    long calls = b.counters().get(LinkCounter.RECEIVE_CALLS);
    assertTrue(calls <= 2, "receive calls: " + calls);
    for (int i = 0; i < 30; i++) {
      // On loopback nothing splits and joins: the parts are numbered as they were sent, in two messages of 15.
      assertEquals(i % 15, received.get(i).identification());
    }
    assertEquals(30, b.counters().get(LinkCounter.ICRC_OK));
  }

  @Test
  void overIpv6() {
    sendsToItselfOverIpv6();
  }

  @Test
  void steadyStateAllocatesNothing() {
    Link a = open(address(1));
    Link b = open(address(2));
    Route route = a.route(address(1), address(2), 0, 0, 64);
    long[] sum = new long[1];
    PacketHandler handler = packet -> sum[0] += packet.length();
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long rounds = 5_000;
    long allocated = Long.MAX_VALUE;
    // Until the compiler has come as far as it goes, code that it has not optimised yet may allocate.
    for (int window = 0; window < 40 && allocated >= rounds; window++) {
      long before = threads.getCurrentThreadAllocatedBytes();
      for (long round = 0; round < rounds; round++) {
        exchange(a, b, route, handler);
      }
      allocated = threads.getCurrentThreadAllocatedBytes() - before;
    }
    assertTrue(allocated < rounds, "bytes allocated in " + rounds + " rounds: " + allocated);
  }

  private static void exchange(Link a, Link b, Route route, PacketHandler handler) {
    for (int i = 0; i < 4; i++) {
      a.claim(route, 1036);
      a.commit();
    }
    a.flush();
    int got = 0;
    while (got < 4) {
      got += b.receive(handler, 16);
      if (got < 4) {
        b.await(TimeUnit.SECONDS.toNanos(1));
      }
    }
  }
}
