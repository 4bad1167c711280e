package org.rdma4j.it.peer;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** One side goes away in the middle of the traffic: the other ends with "transport retry counter exceeded". */
@PeerTest
class VanishedPeerIT {
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final List<String> RETRY_EXCEEDED = List.of("1 error 12");

  /** What the kernel's rxe of 6.12 reports instead where the link is cut under it; that of 6.1 says 12. */
  private static final List<String> FLUSHED = List.of("1 flushed");
  private static final int PORT = 18600;
  private static final String WORDS = " until-error --port " + PORT + " --retry 2 --timeout 16 --wait 30 --gid ";
  private static final String GUEST = "exec python3 /root/pv.py %s" + WORDS + Family.IPV4.guestGidIndex();

  private final LinuxPeer peer;

  VanishedPeerIT(LinuxPeer peer) {
    this.peer = peer;
    peer.copyIn(peer.scripts().resolve("pv.py"), "/root/pv.py");
  }

  @ParameterizedTest
  @EnumSource
  void linuxIsKilled(Device device) {
    try (Running server = linuxServer();
        Running client = rdma4jClient(device)) {
      awaitTraffic(client, server);
      peer.exec("killall -KILL python3").ok();
      assertEnded(client, Set.of(RETRY_EXCEEDED));
    }
  }

  @ParameterizedTest
  @EnumSource
  void rdma4jIsKilled(Device device) {
    try (Running server = rdma4jServer(device);
        Running client = linuxClient()) {
      awaitTraffic(client, server);
      server.kill();
      assertEnded(client, Set.of(RETRY_EXCEEDED));
    }
  }

  @ParameterizedTest
  @EnumSource
  void linkIsCutForRdma4j(Device device) {
    try (Running server = linuxServer();
        Running client = rdma4jClient(device)) {
      cutUnder(client, server, Set.of(RETRY_EXCEEDED));
    }
  }

  @ParameterizedTest
  @EnumSource
  void linkIsCutForLinux(Device device) {
    try (Running server = rdma4jServer(device);
        Running client = linuxClient()) {
      cutUnder(client, server, Set.of(RETRY_EXCEEDED, FLUSHED));
    }
  }

  private void cutUnder(Running client, Running server, Set<List<String>> ends) {
    awaitTraffic(client, server);
    LinuxPeer.Disturbance cut = peer.disturb("loss", "100%");
    try (cut) {
      assertEnded(client, ends);
    }
  }

  private Running linuxServer() {
    Running server = peer.start(GUEST.formatted("server"), LIMIT.multipliedBy(3));
    peer.awaitListening(Set.of(PORT), server);
    return server;
  }

  private Running linuxClient() {
    return peer.start(GUEST.formatted("client") + " --host " + LinuxPeer.HERE, LIMIT.multipliedBy(3));
  }

  private Running rdma4jServer(Device device) {
    Running server = rdma4j(device, "pv server", "");
    peer.awaitListeningHere(PORT, server, LIMIT);
    return server;
  }

  private Running rdma4jClient(Device device) {
    return rdma4j(device, "pv client", " --host " + LinuxPeer.GUEST);
  }

  private Running rdma4j(Device device, String role, String more) {
    Rdma4j rdma = new Rdma4j(peer, device);
    String words = WORDS + rdma.gidIndex(Family.IPV4) + " --device " + device.device();
    return rdma.start("vanished-" + device.device(), List.of(role + words + more));
  }

  private static void awaitTraffic(Running client, Running server) {
    long end = System.nanoTime() + LIMIT.toNanos();
    while (!client.output().contains("working")) {
      if (!client.isAlive() || !server.isAlive() || System.nanoTime() - end > 0) {
        throw new PeerException("no traffic:\n" + client.output() + "\n" + server.output());
      }
      LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
    }
  }

  private static void assertEnded(Running client, Set<List<String>> ends) {
    String output = client.await(LIMIT).ok().output();
    List<String> end = Completions.parse(output);
    assertTrue(ends.contains(end), () -> end + " is not among " + ends + "\n" + output);
    assertTrue(output.contains("client until-error: end"), output);
  }
}
