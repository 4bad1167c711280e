package org.rdma4j.it.peer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What can happen to a connection between each device of ours and Linux: answers with everything they carry, refusals,
 * a full backlog, messages that are lost, a peer that is gone. On both sides the events with status, private data and
 * time; on the link the messages; and nothing is left.
 */
@PeerTest
class ConnectionFaultsIT {
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final Duration LONG_LIMIT = Duration.ofSeconds(100);
  private static final int PORT = 18800;
  private static final int CAPTURED = 5_000;
  private static final String NOTHING_LEFT = "pd 1 cq 1 qp 1 cm_id 0 ";
  private static final String GUEST_GO = "/root/go";
  private static final String ALL = "REQ MRA REJ REP RTU DREQ DREP";
  /** As many bytes as a rejection carries. */
  private static final String REASON = "5a".repeat(148);

  private static final List<String> ENDED = List.of("ESTABLISHED status 0", "DISCONNECTED status 0");

  private final LinuxPeer peer;
  private final CmGuest guest;
  private final Path go;

  ConnectionFaultsIT(LinuxPeer peer, @TempDir Path directory) {
    this.peer = peer;
    this.guest = new CmGuest(peer);
    this.go = directory.resolve("go");
    peer.exec("rm -f " + GUEST_GO).ok();
  }

  /** Every message gets through again, and no program of a test that failed is left to the next. */
  @AfterEach
  void cleanUp() {
    peer.lose("off");
    peer.exec("killall -q -KILL python3; true").ok();
  }

  /** So that both are there with each device without doubling the time. */
  private static Family family(Device device) {
    return device == Device.RXE ? Family.IPV4 : Family.IPV6;
  }

  /** Accepted and refused with what requests and answers carry, and refused for want of a listener; ours asks. */
  @ParameterizedTest
  @EnumSource
  void everyAnswerOfLinux(Device device) {
    List<String> servers = new ArrayList<>();
    List<String> clients = new ArrayList<>();
    for (Family each : Family.values()) {
      int port = PORT + 10 * each.ordinal();
      servers.add(guestSide("serve", each.guest(), port) + " --data aabb --resources 3 --depth 5");
      servers.add(guestSide("serve", each.guest(), port + 1) + " --answer reject --data " + REASON);
      clients.add(here("connect", each.guest(), port) + " --data 0102 --resources 7 --depth 2");
      clients.add(here("connect", each.guest(), port + 1));
      clients.add(here("connect", each.guest(), port + 2));
    }
    Rdma4j rdma = new Rdma4j(peer, device);
    List<String> script = new ArrayList<>();
    script.addAll(clients);
    script.add("rdma resource show");
    LinkCapture capture = peer.capture("answers-of-linux-" + device.device(), CAPTURED);
    String here;
    List<String> there;
    try (capture;
        Running serving = guest.startAll(servers, LIMIT)) {
      guest.awaitListeners(servers.size(), serving);
      here = CmPeerJar.start(rdma, "answers", script).await(LIMIT).ok().output();
      serving.await(LIMIT).ok();
      there = guest.results(servers.size());
    }
    List<String> one =
        List.of(
            "ESTABLISHED status 0 resources 5 depth 3 data aabb",
            "DISCONNECTED status 0",
            "REJECTED status 28 data " + REASON,
            "REJECTED status 8 data");
    assertEquals(Stream.concat(one.stream(), one.stream()).toList(), CmEvents.of(here), here);
    assertTrue(here.contains("nobody listens on this service id"), here);
    assertFalse(Rdma4j.hasWarned(here), here);
    for (int i = 0; i < there.size(); i += 2) {
      assertEquals(accepted("CONNECT_REQUEST status 0 resources 2 depth 7 data 0102"), CmEvents.of(there.get(i)));
      assertEquals(List.of("CONNECT_REQUEST status 0 resources 1 depth 1 data"), CmEvents.of(there.get(i + 1)));
    }
    guest.assertNothingLeft(here);
    assertMads(capture.check(), "6 REQ", "2 REP", "2 RTU", "4 REJ", "2 DREQ", "2 DREP");
  }

  /** The same where Linux asks. */
  @ParameterizedTest
  @EnumSource
  void everyAnswerOfOurs(Device device) {
    Rdma4j rdma = new Rdma4j(peer, device);
    List<String> script = new ArrayList<>();
    List<String> clients = new ArrayList<>();
    for (Family each : Family.values()) {
      int port = PORT + 10 * each.ordinal();
      script.add(here("serve", each.here(), port) + " --data aabb --resources 3 --depth 5 &");
      script.add(here("serve", each.here(), port + 1) + " --answer reject --data " + REASON + " &");
      clients.add(guestSide("connect", each.here(), port + 2));
      clients.add(guestSide("connect", each.here(), port) + " --data 0102 --resources 7 --depth 2");
      clients.add(guestSide("connect", each.here(), port + 1));
    }
    script.add("cm_listeners 4");
    LinkCapture capture = peer.capture("answers-of-" + device.device(), CAPTURED);
    String here;
    List<String> there;
    try (capture;
        Running serving = CmPeerJar.start(rdma, "answering", script)) {
      CmGuest.await(() -> serving.output().contains("4 listen"), serving);
      there = guest.runAll(clients, LIMIT);
      here = serving.await(LIMIT).ok().output();
    }
    for (int i = 0; i < there.size(); i += 3) {
      assertEquals(List.of("REJECTED status 8 data"), CmEvents.of(there.get(i)));
      assertEquals(
          List.of("ESTABLISHED status 0 resources 5 depth 3 data aabb", "DISCONNECTED status 0"),
          CmEvents.of(there.get(i + 1)));
      assertEquals(List.of("REJECTED status 28 data " + REASON), CmEvents.of(there.get(i + 2)));
    }
    List<String> one = new ArrayList<>(accepted("CONNECT_REQUEST status 0 resources 2 depth 7 data 0102"));
    one.add("CONNECT_REQUEST status 0 resources 1 depth 1 data");
    List<String> expected = Stream.concat(one.stream(), one.stream()).sorted().toList();
    assertEquals(expected, CmEvents.of(here).stream().sorted().toList());
    assertFalse(Rdma4j.hasWarned(here), here);
    guest.assertNothingLeft(NOTHING_LEFT);
    assertMads(capture.check(), "6 REQ", "2 REP", "2 RTU", "4 REJ", "2 DREQ", "2 DREP");
  }

  /** A request too many is neither answered nor refused, so it is asked again; then it finds room. */
  @Test
  void fullBacklogOfLinux() {
    Device device = Device.CONNECTX;
    Family family = family(device);
    Rdma4j rdma = new Rdma4j(peer, device);
    List<String> script = new ArrayList<>();
    script.add(here("connect", family.guest(), PORT) + " --count 2");
    script.add("rdma resource show");
    String server = guestSide("serve", family.guest(), PORT) + " --backlog 1 --count 2 --until " + GUEST_GO;
    LinkCapture capture = peer.capture("backlog-of-linux-" + device.device(), CAPTURED);
    String here;
    try (capture;
        Running serving = peer.start(server, LIMIT)) {
      guest.awaitListeners(1, serving);
      try (Running asking = CmPeerJar.start(rdma, "backlog", script)) {
        CmGuest.await(() -> capture.count("MAD CM REQ") > 2, asking);
        peer.exec("touch " + GUEST_GO).ok();
        here = asking.await(LIMIT).ok().output();
      }
      String there = serving.await(LIMIT).ok().output();
      assertEquals(2, count(CmEvents.of(there), "CONNECT_REQUEST"), there);
    }
    assertEquals(2, count(CmEvents.of(here), "ESTABLISHED status 0"), here);
    assertEquals(2, count(CmEvents.of(here), "DISCONNECTED status 0"), here);
    guest.assertNothingLeft(here);
    assertRepeated(capture.check(), "REQ", 3);
  }

  /** The same where the backlog is ours. */
  @Test
  void fullBacklogOfOurs() throws IOException {
    Device device = Device.RXE;
    Family family = family(device);
    Rdma4j rdma = new Rdma4j(peer, device);
    List<String> script = new ArrayList<>();
    script.add(here("serve", family.here(), PORT) + " --backlog 1 --count 2 --until " + go);
    script.add("rdma resource show");
    String client = guestSide("connect", family.here(), PORT) + " --count 2";
    LinkCapture capture = peer.capture("backlog-of-" + device.device(), CAPTURED);
    String here;
    try (capture;
        Running serving = CmPeerJar.start(rdma, "backlog-server", script)) {
      CmGuest.await(() -> serving.output().contains("listening"), serving);
      try (Running asking = peer.start(client, LIMIT)) {
        CmGuest.await(() -> capture.count("MAD CM REQ") > 2, asking);
        Files.createFile(go);
        String there = asking.await(LIMIT).ok().output();
        assertEquals(2, count(CmEvents.of(there), "ESTABLISHED status 0"), there);
      }
      here = serving.await(LIMIT).ok().output();
    }
    assertEquals(2, count(CmEvents.of(here), "CONNECT_REQUEST"), here);
    assertEquals(2, count(CmEvents.of(here), "ESTABLISHED status 0"), here);
    guest.assertNothingLeft(here);
    assertRepeated(capture.check(), "REQ", 3);
  }

  /** Every other message of every kind does not get through; ours asks, and repeats after a little more than 1 s. */
  @ParameterizedTest
  @EnumSource
  void everyMessageToLinuxIsLost(Device device) throws IOException {
    Family family = family(device);
    Rdma4j rdma = new Rdma4j(peer, device);
    List<String> script = new ArrayList<>();
    script.add(here("connect", family.guest(), PORT) + " --until " + go);
    script.add("rdma resource show");
    LinkCapture capture = peer.capture("lost-to-linux-" + device.device(), CAPTURED);
    String here;
    try (capture;
        Running serving = peer.start(guestSide("serve", family.guest(), PORT), LIMIT)) {
      guest.awaitListeners(1, serving);
      peer.lose("REQ REP RTU DREQ DREP");
      try (Running asking = CmPeerJar.start(rdma, "lost", script)) {
        CmGuest.await(() -> serving.output().contains("ESTABLISHED"), asking);
        Files.createFile(go);
        here = asking.await(LIMIT).ok().output();
      }
      String there = serving.await(LIMIT).ok().output();
      assertEquals(accepted("CONNECT_REQUEST status 0 resources 1 depth 1 data"), CmEvents.of(there));
    }
    assertEquals(
        List.of("ESTABLISHED status 0 resources 1 depth 1 data", "DISCONNECTED status 0"), CmEvents.of(here), here);
    assertWithin(1_000, 10_000, CmEvents.millis(here, "ESTABLISHED"));
    assertWithin(1_000, 15_000, CmEvents.millis(here, "DISCONNECTED"));
    peer.lose("off");
    guest.assertNothingLeft(here);
    String packets = capture.check();
    Stream.of("REQ", "RTU", "DREQ").forEach(each -> assertRepeated(packets, each, 2));
  }

  /**
   * What Linux repeats takes it 4 s and 6 s, so with each device something else is lost. What the guest has lost of its
   * own is not in the capture; that it was lost is seen in what ours repeats, or in the time.
   */
  @ParameterizedTest
  @EnumSource
  void messageFromLinuxIsLost(Device device) {
    Family family = family(device);
    String lost = device == Device.RXE ? "RTU" : "REP";
    Rdma4j rdma = new Rdma4j(peer, device);
    List<String> script = new ArrayList<>();
    script.add(here("serve", family.here(), PORT));
    script.add("rdma resource show");
    String client = guestSide("connect", family.here(), PORT) + " --until " + GUEST_GO;
    LinkCapture capture = peer.capture("lost-from-linux-" + device.device(), CAPTURED);
    String here;
    try (capture;
        Running serving = CmPeerJar.start(rdma, "lost-server", script)) {
      CmGuest.await(() -> serving.output().contains("listening"), serving);
      peer.lose(lost + " DREQ");
      try (Running asking = peer.start(client, LIMIT)) {
        CmGuest.await(() -> serving.output().contains("event ESTABLISHED"), serving);
        peer.exec("touch " + GUEST_GO).ok();
        String there = asking.await(LIMIT).ok().output();
        assertEquals("DISCONNECTED status 0", CmEvents.of(there).getLast(), there);
        assertWithin(6_000, 20_000, CmEvents.millis(there, "DISCONNECTED"));
      }
      here = serving.await(LIMIT).ok().output();
    }
    assertEquals(accepted("CONNECT_REQUEST status 0 resources 1 depth 1 data"), CmEvents.of(here), here);
    peer.lose("off");
    guest.assertNothingLeft(here);
    assertWithin(4_000, 20_000, CmEvents.millis(here, "ESTABLISHED"));
    assertRepeated(capture.check(), "REP", 2);
  }

  /** Nobody answers, neither a request nor the end of a connection that was there: 16 times a bit over 1 s each. */
  @Test
  void linuxIsOutOfReach() throws IOException {
    Rdma4j rdma = new Rdma4j(peer, Device.RXE);
    List<String> script = new ArrayList<>();
    script.add(here("connect", LinuxPeer.GUEST, PORT) + " --until " + go + " &");
    script.add(here("connect", LinuxPeer.GUEST, PORT) + " --from " + go);
    String here;
    try (Running serving = peer.start(guestSide("serve", LinuxPeer.GUEST, PORT) + " --count 2", LIMIT)) {
      guest.awaitListeners(1, serving);
      try (Running asking = CmPeerJar.start(rdma, "out-of-reach", script)) {
        CmGuest.await(() -> asking.output().contains("event ESTABLISHED"), asking);
        peer.lose("--all " + ALL);
        Files.createFile(go);
        here = asking.await(LIMIT).ok().output();
      }
      peer.exec("killall -KILL python3").ok();
    }
    assertEquals(
        List.of(
            "DISCONNECTED status -110", "ESTABLISHED status 0 resources 1 depth 1 data", "UNREACHABLE status -110"),
        CmEvents.of(here).stream().sorted().toList(),
        here);
    assertWithin(16_000, 30_000, CmEvents.millis(here, "DISCONNECTED"));
    assertWithin(16_000, 30_000, CmEvents.millis(here, "UNREACHABLE"));
    assertFalse(Rdma4j.hasWarned(here), here);
  }

  /** Linux asks and then neither hears nor says anything more: ours has agreed 16 times, every 4 s as Linux said. */
  @Test
  void linuxIsOutOfReachAfterItsRequest() {
    Rdma4j rdma = new Rdma4j(peer, Device.RXE);
    List<String> script = List.of(here("serve", LinuxPeer.HERE, PORT), "rdma resource show");
    String here;
    try (Running serving = CmPeerJar.start(rdma, "no-rtu", script)) {
      CmGuest.await(() -> serving.output().contains("listening"), serving);
      peer.lose("--all MRA REJ REP RTU DREQ DREP");
      try (Running asking = peer.start(guestSide("connect", LinuxPeer.HERE, PORT), LONG_LIMIT)) {
        here = serving.await(LONG_LIMIT).output();
        peer.exec("killall -KILL python3").ok();
        asking.await(LIMIT);
      }
    }
    assertEquals(
        List.of("CONNECT_REQUEST status 0 resources 1 depth 1 data", "UNREACHABLE status -110"),
        CmEvents.of(here),
        here);
    assertWithin(60_000, 80_000, CmEvents.millis(here, "UNREACHABLE"));
    assertFalse(Rdma4j.hasWarned(here), here);
    guest.assertNothingLeft(here);
  }

  /** A program that dies has a kernel that says so: to whom it asked, and to whom it is connected with. */
  @Test
  void linuxProgramDies() {
    Rdma4j rdma = new Rdma4j(peer, Device.RXE);
    List<String> script = new ArrayList<>();
    script.add(here("serve", LinuxPeer.HERE, PORT) + " &");
    script.add(here("serve", LinuxPeer.HERE, PORT + 1) + " --answer nothing &");
    script.add("cm_listeners 2");
    String asks = guestSide("connect", LinuxPeer.HERE, PORT + 1);
    String connected = guestSide("connect", LinuxPeer.HERE, PORT) + " --until " + GUEST_GO;
    String here;
    try (Running serving = CmPeerJar.start(rdma, "death", script)) {
      CmGuest.await(() -> serving.output().contains("2 listen"), serving);
      try (Running dying = guest.startAll(List.of(asks, connected), LIMIT)) {
        CmGuest.await(
            () -> {
              List<String> events = CmEvents.of(serving.output());
              return events.contains("ESTABLISHED status 0") && count(events, "CONNECT_REQUEST") == 2;
            },
            serving);
        peer.exec("killall -KILL python3").ok();
        dying.await(LIMIT);
      }
      here = serving.await(LIMIT).ok().output();
    }
    List<String> events = CmEvents.of(here);
    assertTrue(events.contains("REJECTED status 4 data"), here);
    assertTrue(events.contains("DISCONNECTED status 0"), here);
    guest.assertNothingLeft(NOTHING_LEFT);
  }

  private static String guestSide(String role, String address, int port) {
    return "python3 /root/cm.py %s %s %d".formatted(role, address, port);
  }

  private static String here(String role, String address, int port) {
    return "cm_peer %s %s %d".formatted(role, address, port);
  }

  private static List<String> accepted(String request) {
    return Stream.concat(Stream.of(request), ENDED.stream()).toList();
  }

  private static long count(List<String> events, String start) {
    return events.stream().filter(each -> each.startsWith(start)).count();
  }

  private static void assertWithin(long least, long most, long millis) {
    assertTrue(millis >= least && millis <= most, () -> millis + " ms, not " + least + " to " + most);
  }

  /** Fails unless the capture has exactly these numbers of messages. */
  private static void assertMads(String packets, String... kinds) {
    for (String kind : kinds) {
      String[] words = kind.split(" ");
      assertEquals(Long.parseLong(words[0]), mads(packets, words[1]), packets);
    }
  }

  private static void assertRepeated(String packets, String kind, int least) {
    assertTrue(mads(packets, kind) >= least, packets);
    assertEquals(0, mads(packets, "REJ"), packets);
  }

  private static long mads(String packets, String kind) {
    Matcher number = Pattern.compile("(\\d+) MAD CM " + kind + "(;|$)", Pattern.MULTILINE).matcher(packets);
    return number.find() ? Long.parseLong(number.group(1)) : 0;
  }
}
