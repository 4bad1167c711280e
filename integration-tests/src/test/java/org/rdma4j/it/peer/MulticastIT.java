package org.rdma4j.it.peer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Multicast over IPv4, from Linux to members here and from here to Linux's {@code mckey}. */
@PeerTest
class MulticastIT {
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final String GROUP = "239.192.7.7";
  /** What the kernel's rxe adds to its interface's filter for a member: 33:33 and the end of the group's GID. */
  private static final String FILTER = "3333efc00707";

  private static final int PACKETS = 100;
  private static final int GRH = 40;
  private static final List<Integer> SIZES = List.of(0, 1, 1000, 4000);
  private static final int COUNT = 5;

  private final LinuxPeer peer;

  MulticastIT(LinuxPeer peer) {
    this.peer = peer;
    peer.copyIn(peer.scripts().resolve("pv.py"), "/root/pv.py");
  }

  @ParameterizedTest
  @EnumSource
  void everyMemberHereReceivesWhatLinuxSends(Device device) {
    Rdma4j rdma = new Rdma4j(peer, device);
    int gidIndex = rdma.gidIndex(Family.IPV4);
    String sizes = String.join(",", SIZES.stream().map(String::valueOf).toList());
    String words = " --host " + GROUP + " --sizes " + sizes + " --gid ";
    String server = "pv server mcast" + words + gidIndex + " --device " + device.device();
    LinkCapture capture = peer.capture("mcast-linux-sends-" + device.device(), PACKETS);
    String here;
    try (capture;
        Running members = rdma.start("mcast-members", List.of(server))) {
      await(() -> members.output().contains("2 members"), members);
      peer.exec("python3 /root/pv.py client mcast" + words + Family.IPV4.guestGidIndex()).ok();
      here = members.await(LIMIT).ok().output();
    }
    List<String> member =
        IntStream.range(0, SIZES.size())
            .mapToObj(i -> "%d ok recv %d imm %#x".formatted(100 + i, GRH + SIZES.get(i), 0x01020304 + i))
            .toList();
    assertEquals(Stream.concat(member.stream(), member.stream()).toList(), Completions.parse(here), here);
    assertEquals(2, here.lines().filter(line -> line.contains("payload ok: 4 messages")).count(), here);
    assertFalse(Rdma4j.hasWarned(here), here);
    assertTrue(capture.check().contains(SIZES.size() + " UD SEND Only Imm"));
  }

  @ParameterizedTest
  @EnumSource
  void linuxReceivesWhatIsSentHere(Device device) {
    Rdma4j rdma = new Rdma4j(peer, device);
    int gidIndex = rdma.gidIndex(Family.IPV4);
    String mckey = "mckey -m %s -b %s -C %d -S 64".formatted(GROUP, LinuxPeer.GUEST, COUNT);
    String sizes = String.join(",", Stream.generate(() -> "64").limit(COUNT).toList());
    LinkCapture capture = peer.capture("mcast-" + device.device() + "-sends", PACKETS);
    try (capture;
        Running member = peer.start(mckey, LIMIT)) {
      await(() -> peer.exec("cat /proc/net/dev_mcast").ok().output().contains(FILTER), member);
      String command = "pv client mcast --host " + GROUP + " --sizes " + sizes + " --device " + device.device();
      String here = rdma.start("mcast-sender", List.of(command + " --gid " + gidIndex)).await(LIMIT).ok().output();
      List<String> sent = IntStream.rangeClosed(1, COUNT).mapToObj(i -> i + " ok send").toList();
      assertEquals(sent, Completions.parse(here), here);
      assertFalse(Rdma4j.hasWarned(here), here);
      String there = member.await(LIMIT).ok().output();
      assertTrue(there.contains("data transfers complete") && there.contains("return status 0"), there);
    }
    assertTrue(capture.check().contains(COUNT + " UD SEND Only Imm"));
  }

  private static void await(BooleanSupplier condition, Running running) {
    long end = System.nanoTime() + LIMIT.toNanos();
    while (!condition.getAsBoolean()) {
      if (!running.isAlive() || System.nanoTime() - end > 0) {
        throw new PeerException("no member:\n" + running.output());
      }
      LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
    }
  }
}
