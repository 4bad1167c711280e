package org.rdma4j.it.peer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What tests of connections need of the guest, and wait for. */
final class CmGuest {
  static final Duration LIMIT = Duration.ofSeconds(60);

  private static final String MARK = "@@ ";
  private static final Pattern MARKED = Pattern.compile("(?m)^@@ (\\d+) (\\d+)$");

  private final LinuxPeer peer;

  CmGuest(LinuxPeer peer) {
    this.peer = peer;
    peer.copyIn(peer.scripts().resolve("cm.py"), "/root/cm.py");
  }

  /** Starts commands at once; {@link #results} has how each went. */
  Running startAll(List<String> commands, Duration limit) {
    StringBuilder script = new StringBuilder("mkdir -p /root/cm; cd /root/cm; rm -f *;");
    for (int i = 0; i < commands.size(); i++) {
      script.append(" (timeout %d %s >%d.out 2>&1; echo $? >%3$d.status) &"
          .formatted(limit.toSeconds(), commands.get(i), i));
    }
    return peer.start(script.append(" wait").toString(), limit.plusSeconds(5));
  }

  /** Outputs of all that {@link #startAll} started, which have ended, each with its exit status 0. */
  List<String> results(int count) {
    String collect = "cd /root/cm; for p in $(seq 0 %d); do cat $p.out; echo \"%s$p $(cat $p.status)\"; done";
    String all = peer.exec(collect.formatted(count - 1, MARK)).ok().output();
    return split(all, count);
  }

  /** Runs commands one after the other, whatever they say; their outputs. */
  List<String> runAll(List<String> commands, Duration limit) {
    StringBuilder script = new StringBuilder();
    for (int i = 0; i < commands.size(); i++) {
      script.append(commands.get(i)).append(" 2>&1; echo \"").append(MARK).append(i).append(" $?\"; ");
    }
    return split(peer.start(script.toString(), limit).await(limit.plusSeconds(20)).ok().output(), commands.size());
  }

  private static List<String> split(String all, int count) {
    List<String> outputs = List.of(MARKED.split(all, -1));
    assertTrue(outputs.size() > count, all);
    int found = 0;
    for (Matcher mark = MARKED.matcher(all); mark.find(); found++) {
      assertEquals("0", mark.group(2), () -> "exit status of the command after\n" + all);
    }
    assertEquals(count, found, all);
    return outputs.subList(0, count);
  }

  /** Waits until so many identifiers listen. */
  void awaitListeners(int count, Running servers) {
    await(() -> listeners() >= count, servers);
  }

  private long listeners() {
    return peer.exec("rdma resource show cm_id").ok().output().lines()
        .filter(line -> line.contains("state LISTEN"))
        .count();
  }

  /** Fails unless nothing is left of connections. */
  void assertNothingLeft(String here) {
    String there = peer.exec("rdma resource show").ok().output();
    assertTrue(there.contains("pd 1 cq 1 qp 1 cm_id 0 "), there);
    assertTrue(here.contains("pd 1 cq 1 qp 1 cm_id 0 "), here);
  }

  static void await(BooleanSupplier condition, Running running) {
    long end = System.nanoTime() + LIMIT.toNanos();
    while (!condition.getAsBoolean()) {
      if (!running.isAlive() || System.nanoTime() - end > 0) {
        throw new PeerException("what is waited for does not come:\n" + running.output());
      }
      LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
    }
  }
}
