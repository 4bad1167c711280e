package org.rdma4j.it.peer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The harness itself, without anything of rdma4j: what the other tests rely on. */
@PeerTest
class HarnessIT {
  private static final Duration LIMIT = Duration.ofSeconds(30);

  private final LinuxPeer peer;

  HarnessIT(LinuxPeer peer) {
    this.peer = peer;
  }

  @Test
  void guestHasItsDeviceWithTheGidsThatTestsName() {
    String text = peer.exec("ibv_devinfo -v -d rxe0").ok().output();
    assertTrue(text.contains("active_mtu:\t\t4096 (5)"), text);
    assertTrue(text.contains("GID[  1]:\t\t::ffff:192.0.2.2"), text);
    assertTrue(text.contains("GID[  2]:\t\t2001:db8::2"), text);
  }

  @Test
  void exitStatusComesBack() {
    assertEquals(7, peer.exec("exit 7").status());
    assertThrows(PeerException.class, () -> peer.exec("false").ok());
  }

  @Test
  void fileArrivesWhole(@TempDir Path directory) throws IOException {
    Path file = directory.resolve("file");
    Files.writeString(file, "it's \"quoted\" $HOME\n".repeat(1000));
    peer.copyIn(file, "/root/file");
    assertEquals(Files.readString(file), peer.exec("cat /root/file").ok().output());
  }

  @Test
  void serverIsFoundListeningOnBothSides() {
    try (Running server = peer.start("nc -l -p 4000", LIMIT)) {
      peer.awaitListening(Set.of(4000), server);
    }
    try (Running server = peer.here("nc", Map.of(), List.of("busybox", "nc", "-l", "-p", "4001"))) {
      peer.awaitListeningHere(4001, server, LIMIT);
      assertFalse(ListeningPorts.ofProcess(ProcessHandle.current().pid()).contains(4001), "outside the namespace");
    }
  }

  @Test
  void serverThatEndsIsNotWaitedFor() {
    try (Running server = peer.start("echo cannot; exit 1", LIMIT)) {
      var e = assertThrows(PeerException.class, () -> peer.awaitListening(Set.of(4002), server));
      assertTrue(e.getMessage().contains("cannot"), e.getMessage());
    }
  }

  @Test
  void netemLosesBothWaysAndEnds() {
    String ping = "ping -c 2 -W 1 192.0.2.1";
    LinuxPeer.Disturbance disturbance = peer.disturb("loss", "100%");
    assertEquals(1, peer.exec(ping).status());
    disturbance.close();
    peer.exec(ping).ok();
  }

  @Test
  void capturedPacketsOfTheKernelAreRight() {
    LinkCapture capture = peer.capture("harness", 10);
    try (capture) {
      // a REQ of the connection manager, which nobody answers
      peer.exec("timeout 1 rping -c -a 192.0.2.1 -C 1");
    }
    String text = capture.check();
    assertTrue(text.contains("MAD CM REQ"), text);
  }
}
