package org.rdma4j.it.peer;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Runs ping-pongs one after the other between one container of rdma4j and the guest, and keeps both sides' outputs. */
final class PingpongGroup {
  private static final Duration LIMIT = Duration.ofSeconds(240);
  private static final Duration TURN = Duration.ofSeconds(60);
  private static final String NOT_REACHED = "(not reached)";
  private static final String COLLECT =
      "cd /root/pp; for p in *.out; do p=${p%.out}; cat $p.out; echo \"@@ $p $(cat $p.status)\"; done";
  private static final Pattern GUEST_RUN = Pattern.compile("(?m)^@@ (\\d+) (\\d*)$");

  private final LinuxPeer peer;
  private final Rdma4j rdma;

  PingpongGroup(LinuxPeer peer, Rdma4j rdma) {
    this.peer = peer;
    this.rdma = rdma;
  }

  /** Linux serves all of them at once, rdma4j connects to one after the other. */
  List<Outcome> linuxServes(String name, List<Pingpong> runs, Family family) {
    StringBuilder script = new StringBuilder("mkdir -p /root/pp; cd /root/pp; rm -f *;");
    for (Pingpong run : runs) {
      String served = run.command(LinuxPeer.DEVICE, family.guestGidIndex());
      script.append(" (timeout ").append(LIMIT.toSeconds()).append(' ').append(served);
      script.append(" >%1$d.out 2>&1; echo $? >%1$d.status) &".formatted(run.port()));
    }
    script.append(" wait");
    Set<Integer> ports = new HashSet<>();
    runs.forEach(run -> ports.add(run.port()));
    int gid = rdma.gidIndex(family);
    String device = rdma.device().device();
    List<String> commands = runs.stream().map(run -> run.command(device, gid, LinuxPeer.GUEST)).toList();
    String here = "";
    String guest;
    try (Running servers = peer.start(script.toString(), LIMIT)) {
      peer.awaitListening(ports, servers);
      try (Running client = rdma.start(name, commands)) {
        here = client.await(LIMIT).output();
        servers.await(Rdma4j.outputs(here).size() == runs.size() ? TURN : Duration.ZERO);
      } catch (PeerException e) {
        peer.exec("killall ibv_" + runs.getFirst().tool() + "_pingpong");
        here = here.isEmpty() ? e.getMessage() : here;
      }
      guest = peer.exec(COLLECT).ok().output();
    }
    return outcomes(runs, here, guest);
  }

  /** rdma4j serves one after the other; Linux connects as soon as it listens. */
  List<Outcome> rdma4jServes(String name, List<Pingpong> runs, Family family) {
    int gid = rdma.gidIndex(family);
    String device = rdma.device().device();
    StringBuilder guest = new StringBuilder();
    String here;
    try (Running server = rdma.start(name, runs.stream().map(run -> run.command(device, gid)).toList())) {
      try {
        for (Pingpong run : runs) {
          peer.awaitListeningHere(run.port(), server, TURN);
          String command = run.command(LinuxPeer.DEVICE, family.guestGidIndex(), LinuxPeer.HERE);
          Running.Result result = peer.start(command, TURN).await(TURN.multipliedBy(2));
          guest.append("%s\n@@ %d %d\n".formatted(result.output(), run.port(), result.status()));
        }
        here = server.await(TURN).output();
      } catch (PeerException e) {
        here = server.output();
      }
    }
    return outcomes(runs, here, guest.toString());
  }

  private static List<Outcome> outcomes(List<Pingpong> runs, String here, String guest) {
    List<String> outputs = Rdma4j.outputs(here);
    List<Outcome> all = new ArrayList<>();
    for (int i = 0; i < runs.size(); i++) {
      Pingpong run = runs.get(i);
      String ours = i < outputs.size() ? outputs.get(i) : NOT_REACHED + " all of it:\n" + here;
      String theirs = NOT_REACHED;
      int start = 0;
      for (Matcher each = GUEST_RUN.matcher(guest); each.find(); start = each.end()) {
        if (each.group(1).equals(Integer.toString(run.port()))) {
          theirs = guest.substring(start, each.start()) + "\nexit status " + each.group(2);
        }
      }
      all.add(new Outcome(run, ours, theirs));
    }
    return all;
  }

  /**
   * How one of them went.
   *
   * @param run which one
   * @param here what rdma4j printed
   * @param guest what Linux printed, and its exit status
   */
  record Outcome(Pingpong run, String here, String guest) {
    void check() {
      run.check("rdma4j", here);
      run.check("Linux", guest);
      if (!guest.endsWith("exit status 0")) {
        throw new AssertionError(run + "\n" + guest);
      }
    }
  }
}
