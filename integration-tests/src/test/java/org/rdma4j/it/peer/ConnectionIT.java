package org.rdma4j.it.peer;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The programs of librdmacm between each device of ours and Linux, in both directions and over IPv4 and IPv6: exit
 * status, output, every packet of the link, and that nothing is left.
 */
@PeerTest
class ConnectionIT {
  private static final Duration LIMIT = Duration.ofSeconds(120);
  private static final int FIRST_PORT = 18700;
  private static final int CAPTURED = 5_000;
  private static final int CMTIME_PORT = 18790;
  private static final int CMTIME_COUNT = 50;
  private static final String GROUP = "239.192.7.8";
  /** What the kernel's rxe adds to its interface's filter for a member: 33:33 and the end of the group's GID. */
  private static final String FILTER = "3333efc00708";

  private final LinuxPeer peer;
  private final CmGuest guest;

  ConnectionIT(LinuxPeer peer) {
    this.peer = peer;
    this.guest = new CmGuest(peer);
  }

  /** The programs in both families, and last the long run. */
  private static List<Ulp> programs(Family large) {
    List<Ulp> all = new ArrayList<>(Ulp.all(Family.IPV4, FIRST_PORT));
    all.addAll(Ulp.all(Family.IPV6, FIRST_PORT + 10));
    all.add(Ulp.large(large, FIRST_PORT + 20));
    return all;
  }

  @ParameterizedTest
  @EnumSource
  void linuxServes(Device device) {
    List<Ulp> all = programs(Family.IPV4);
    List<String> servers = all.stream().map(each -> each.server(each.family().guest())).toList();
    List<String> clients = new ArrayList<>(all.stream().map(each -> each.client(each.family().guest())).toList());
    clients.add("rdma resource show");
    Rdma4j rdma = new Rdma4j(peer, device);
    LinkCapture capture = peer.capture("connection-linux-serves-" + device.device(), CAPTURED);
    String here;
    List<String> there;
    try (capture;
        Running serving = guest.startAll(servers, LIMIT)) {
      guest.awaitListeners(all.size(), serving);
      here = rdma.start("connection-clients", clients).await(LIMIT).ok().output();
      serving.await(LIMIT).ok();
      there = guest.results(all.size());
    }
    List<String> outputs = Rdma4j.outputs(here);
    for (int i = 0; i < all.size(); i++) {
      all.get(i).check(there.get(i), true);
      all.get(i).check(outputs.get(i), false);
    }
    assertFalse(Rdma4j.hasWarned(here), here);
    guest.assertNothingLeft(outputs.getLast());
    assertMads(capture.check());
  }

  @ParameterizedTest
  @EnumSource
  void rdma4jServes(Device device) {
    List<Ulp> all = programs(Family.IPV6);
    Rdma4j rdma = new Rdma4j(peer, device);
    List<String> script = new ArrayList<>();
    all.forEach(each -> script.add(each.server(each.family().here()) + " &"));
    List<String> clients = all.stream().map(each -> each.client(each.family().here())).toList();
    script.add("cm_listeners " + all.size());
    LinkCapture capture = peer.capture("connection-" + device.device() + "-serves", CAPTURED);
    String here;
    List<String> there;
    try (capture;
        Running serving = CmPeerJar.start(rdma, "connection-servers", script)) {
      CmGuest.await(() -> serving.output().contains(all.size() + " listen"), serving);
      there = guest.runAll(clients, LIMIT);
      here = serving.await(LIMIT).ok().output();
    }
    for (int i = 0; i < all.size(); i++) {
      all.get(i).check(there.get(i), false);
      all.get(i).check(here, true);
    }
    assertFalse(Rdma4j.hasWarned(here), here);
    guest.assertNothingLeft("pd 1 cq 1 qp 1 cm_id 0 ");
    assertMads(capture.check());
  }

  /** Server of ours, which serves until it is told to end, and of Linux. */
  @ParameterizedTest
  @EnumSource
  void connectionsAreMadeAndEnded(Device device) {
    Rdma4j rdma = new Rdma4j(peer, device);
    String server = "cmtime -b %s -p " + CMTIME_PORT;
    String client = "cmtime -s %s -c " + CMTIME_COUNT + " -p " + CMTIME_PORT;
    try (Running serving = peer.start(server.formatted(LinuxPeer.GUEST), LIMIT)) {
      guest.awaitListeners(1, serving);
      String here = rdma.start("cmtime", List.of(client.formatted(LinuxPeer.GUEST))).await(LIMIT).ok().output();
      assertTimes(here);
      peer.exec("killall cmtime").ok();
    }
    List<String> script = new ArrayList<>();
    script.addAll(List.of(server.formatted(LinuxPeer.HERE) + " &", "cm_listeners 1"));
    try (Running serving = CmPeerJar.start(rdma, "cmtime-server", script)) {
      CmGuest.await(() -> serving.output().contains("1 listen"), serving);
      assertTimes(peer.exec(client.formatted(LinuxPeer.HERE)).ok().output());
      assertFalse(Rdma4j.hasWarned(serving.output()), serving.output());
    }
    guest.assertNothingLeft("pd 1 cq 1 qp 1 cm_id 0 ");
  }

  private static void assertTimes(String output) {
    for (String step : List.of("resolve route", "connect", "disconnect", "destroy")) {
      assertTrue(output.lines().anyMatch(line -> line.startsWith(step)), output);
    }
    assertFalse(output.contains("event: "), output);
  }

  @ParameterizedTest
  @EnumSource
  void groupReceivesInBothDirections(Device device) {
    Rdma4j rdma = new Rdma4j(peer, device);
    String member = "mckey -m " + GROUP + " -b %s -C 5 -S 64";
    LinkCapture capture = peer.capture("mckey-" + device.device(), CAPTURED);
    try (capture) {
      try (Running there = peer.start(member.formatted(LinuxPeer.GUEST), LIMIT)) {
        CmGuest.await(() -> peer.exec("cat /proc/net/dev_mcast").ok().output().contains(FILTER), there);
        String here =
            rdma.start("mckey-sender", List.of(member.formatted(LinuxPeer.HERE) + " -s")).await(LIMIT).ok().output();
        assertDone(here);
        assertDone(there.await(LIMIT).ok().output());
      }
      try (Running here = rdma.start("mckey-member", List.of(member.formatted(LinuxPeer.HERE)))) {
        CmGuest.await(() -> here.output().contains("receiving data transfers"), here);
        assertDone(peer.exec(member.formatted(LinuxPeer.GUEST) + " -s").ok().output());
        assertDone(here.await(LIMIT).ok().output());
        assertFalse(Rdma4j.hasWarned(here.output()), here.output());
      }
    }
    assertTrue(capture.check().contains("10 UD SEND Only Imm"));
    guest.assertNothingLeft("pd 1 cq 1 qp 1 cm_id 0 ");
  }

  private static void assertDone(String output) {
    assertTrue(output.contains("joined dgid: ::ffff:" + GROUP), output);
    assertTrue(output.contains("data transfers complete") && output.contains("return status 0"), output);
  }

  private static void assertMads(String packets) {
    List<String> kinds = List.of("REQ", "REP", "RTU", "DREQ", "DREP", "SIDR_REQ", "SIDR_REP");
    kinds.forEach(kind -> assertTrue(packets.contains(" MAD CM " + kind), packets));
    assertFalse(packets.contains("MAD CM REJ") || packets.contains("MAD class"), packets);
  }
}
