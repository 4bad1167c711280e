package org.rdma4j.it.peer;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * A scenario of {@code pv} and what must come of it on either side, by {@link Completions}' notation.
 *
 * @param name scenario
 * @param options its options but for port and GID
 * @param client completions of the side that connects
 * @param server completions of the side that serves
 * @param clientSays more lines that the client must print
 * @param serverSays more lines that the server must print
 */
record Scenario(
    String name, String options, List<String> client, List<String> server, List<String> clientSays,
    List<String> serverSays) {

  private static final int FIRST_RECEIVE = 100;
  private static final int IMMEDIATE = 0x01020304;
  private static final int GRH = 40;
  private static final int REM_INV_REQ = 9;
  private static final int REM_ACCESS = 10;
  private static final int REM_OP = 11;
  private static final int RETRY_EXCEEDED = 12;
  private static final int RNR_RETRY_EXCEEDED = 13;
  private static final int LOC_LEN = 1;
  private static final int LOC_QP_OP = 2;
  private static final String BROKEN = "qp state 6";

  /** All scenarios, with the bounds of sizes and path MTUs. */
  static List<Scenario> all(boolean linuxServes) {
    List<Scenario> all = new ArrayList<>();
    for (String transport : List.of("", "uc-")) {
      for (String operation : List.of("send", "send-imm", "write", "write-imm")) {
        all.add(transfer(transport + operation, "--mtu 256", 0, 1, 63, 255, 256, 257, 1023, 20000));
        all.add(transfer(transport + operation, "--mtu 1024", 0, 1, 1024, 1025, 3001));
        all.add(transfer(transport + operation, "--mtu 4096 --sge 4", 0, 4, 4096, 4097, 16384, 65535));
      }
    }
    all.add(transfer("send", "--burst", burst()));
    all.add(transfer("write", "--burst", burst()));
    all.add(read("--mtu 256", 0, 1, 63, 255, 256, 257, 1023, 20000));
    all.add(read("--mtu 1024", 0, 1, 1024, 1025, 3001));
    all.add(read("--mtu 4096 --sge 4", 0, 4, 4096, 4097, 16384, 65535));
    // more than the four that either side allows to be outstanding
    all.add(read("--burst", burst()));
    all.add(transfer("ud-send", "", 0, 1, 1000, 1024, 4000));
    all.add(transfer("ud-send-imm", "", 0, 1, 1000, 1024, 4000));
    for (String name : List.of("ud-bad-qkey", "ud-bad-qpn")) {
      all.add(
          new Scenario(name, "", List.of("1 ok send"), List.of(), List.of(), List.of("1 completion(s) missing")));
    }
    all.add(atomics(""));
    all.add(both("--mtu 256", 0, 1, 63, 255, 256, 257, 1023, 20000));
    all.add(both("", burst()));
    all.add(invalidate());
    all.add(window("window-1", "50 ok bind", "52 ok bind", "100 flushed"));
    all.add(window("window-2", "50 ok bind", "51 ok local-inv", "52 ok bind", "100 flushed"));
    // The kernel's rxe lets a peer past the end of a window, to the end of its region.
    for (String name : linuxServes ? List.of("window-access") : List.of("window-access", "window-range")) {
      all.add(failing(name, REM_ACCESS, List.of("50 ok bind", "100 flushed"), List.of(BROKEN)));
    }
    all.add(
        new Scenario(
            "rnr", "--sizes 100", List.of("1 ok send"), List.of("100 ok recv 100"), List.of(), List.of("payload ok")));
    all.add(failing("rnr-exceeded", RNR_RETRY_EXCEEDED, List.of(), List.of()));
    all.add(failing("gone", RETRY_EXCEEDED, List.of(), List.of()));
    for (String name : List.of("bad-rkey", "bad-rkey-read", "bad-range", "no-access")) {
      all.add(failing(name, REM_ACCESS, List.of("100 flushed"), List.of(BROKEN)));
    }
    all.add(badAtomic(linuxServes));
    // The specification asks for NAK invalid request; the kernel answers with NAK remote operational error.
    all.add(
        linuxServes
            ? failing("long-send", REM_OP, List.of("100 error " + LOC_QP_OP), List.of(BROKEN))
            : failing("long-send", REM_INV_REQ, List.of("100 error " + LOC_LEN), List.of(BROKEN)));
    return all;
  }

  /**
   * What must survive loss: each operation of RC, with messages of one packet and of hundreds, one at a time and many
   * outstanding. Retries are finite, but not for messages of more than some 20 packets: the kernel's rxe restores its
   * counter at a positive ACK only, not at the NAK that tells of progress, so every lost packet of a message counts.
   */
  static List<Scenario> underLoss() {
    int[] some = {4000, 4000, 4000, 4000, 4000, 4000, 4000, 4000};
    int[] many = {20000, 20000, 20000, 20000};
    int[] large = {65535, 65535, 65535, 200000, 200000};
    String small = "--mtu 256 --wait 60";
    String finite = small + " --retry 6 --timeout 18";
    return List.of(
        transfer("send", finite, some),
        transfer("send", small, many),
        transfer("send", "--mtu 4096 --wait 60 --burst", large),
        transfer("send", "--wait 60 --retry 6 --timeout 18 --burst", burst()),
        transfer("send-imm", small + " --burst", many),
        transfer("write", finite + " --burst", some),
        transfer("write", small, many),
        transfer("write", "--mtu 4096 --wait 60 --burst", large),
        transfer("write-imm", small + " --burst", many),
        read(finite, some),
        read(small + " --burst", many),
        read("--mtu 4096 --wait 60 --burst", large),
        read("--wait 60 --retry 6 --timeout 18 --burst", burst()),
        both("--mtu 4096 --wait 60", 65535, 65535, 65535, 65535, 65535, 65535, 65535),
        both(finite, some),
        atomics("--wait 60 --retry 6 --timeout 18"));
  }

  /** The line that both sides' batch has for it, without the role. */
  String line(int port, int gidIndex) {
    return "%s --port %d --gid %d %s".formatted(name, port, gidIndex, options);
  }

  @Override
  public String toString() {
    return (name + " " + options).strip();
  }

  private static int[] burst() {
    return new int[] {1, 2, 3, 4, 1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 9000, 10000};
  }

  private static Scenario transfer(String name, String options, int... sizes) {
    boolean ud = name.startsWith("ud-");
    boolean write = name.contains("write");
    boolean immediate = name.endsWith("imm");
    List<String> client = new ArrayList<>();
    List<String> server = new ArrayList<>();
    for (int i = 0; i < sizes.length; i++) {
      client.add("%d ok %s".formatted(i + 1, write ? "write" : "send"));
      String tail = immediate ? " imm %#x".formatted(IMMEDIATE + i) : "";
      int length = sizes[i] + (ud ? GRH : 0);
      server.add("%d ok %s %d%s".formatted(FIRST_RECEIVE + i, write ? "recv-write" : "recv", length, tail));
    }
    List<String> received = write && !immediate ? List.of() : server;
    return new Scenario(name, options + sizes(sizes), client, received, List.of(), List.of("payload ok"));
  }

  private static Scenario read(String options, int... sizes) {
    List<String> client = IntStream.rangeClosed(1, sizes.length).mapToObj(i -> i + " ok read").toList();
    return new Scenario("read", options + sizes(sizes), client, List.of(), List.of("payload ok"), List.of());
  }

  /** Either side sends the same to the other. */
  private static Scenario both(String options, int... sizes) {
    Scenario one = transfer("send", options, sizes);
    List<String> all = Stream.concat(one.client().stream(), one.server().stream()).toList();
    return new Scenario("send-both", one.options(), all, all, List.of("payload ok"), List.of("payload ok"));
  }

  private static Scenario atomics(String options) {
    return new Scenario(
        "atomics",
        options,
        List.of("1 ok fetch-add", "2 ok compare-swap", "3 ok compare-swap"),
        List.of(),
        List.of("old value: 40", "old value: 45", "old value: 1000"),
        List.of("value at the end: 1000"));
  }

  private static Scenario failing(String name, int status, List<String> server, List<String> serverSays) {
    String options = "--sizes 100" + (name.equals("gone") ? " --retry 2" : "");
    return new Scenario(name, options, List.of("1 error " + status), server, List.of(), serverSays);
  }

  /** rdma4j refuses to post an unaligned atomic, rdma-core leaves that to the responder. */
  private static Scenario badAtomic(boolean linuxServes) {
    return linuxServes
        ? new Scenario(
            "bad-atomic", "--wait 5", List.of(), List.of(), List.of("refused: "), List.of("qp state 3"))
        : failing("bad-atomic", REM_INV_REQ, List.of("100 flushed"), List.of(BROKEN));
  }

  /** The server has bound a memory window, which goes with the SEND. */
  private static Scenario invalidate() {
    return new Scenario(
        "send-inv",
        "",
        List.of("1 ok write", "2 ok send", "3 error " + REM_ACCESS),
        List.of("50 ok bind", "100 ok recv 32 invalidated", "101 flushed"),
        List.of(),
        List.of(BROKEN));
  }

  /** The server binds a memory window twice; the first key is worth nothing then. */
  private static Scenario window(String name, String... server) {
    return new Scenario(
        name,
        "--sizes 100",
        List.of("1 ok write", "2 ok read", "3 ok write", "4 error " + REM_ACCESS),
        List.of(server),
        List.of("read what was written"),
        List.of(BROKEN));
  }

  private static String sizes(int... sizes) {
    List<String> words = IntStream.of(sizes).mapToObj(size -> String.format(Locale.ROOT, "%d", size)).toList();
    return " --sizes " + String.join(",", words);
  }
}
