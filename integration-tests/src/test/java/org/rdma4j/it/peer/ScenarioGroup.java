package org.rdma4j.it.peer;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** Plays scenarios one after the other, each on its own TCP port, between one {@code pv.py} and one container. */
final class ScenarioGroup {
  private static final Duration LIMIT = Duration.ofSeconds(300);
  private static final int FIRST_PORT = 18600;
  private static final String BATCH = "/root/batch";
  private static final Pattern END = Pattern.compile("(?m)^(server|client) \\S+: (end|failed: .*)$");

  private final LinuxPeer peer;
  private final Rdma4j rdma;

  ScenarioGroup(LinuxPeer peer, Rdma4j rdma) {
    this.peer = peer;
    this.rdma = rdma;
    peer.copyIn(peer.scripts().resolve("pv.py"), "/root/pv.py");
  }

  List<Outcome> play(String name, List<Scenario> scenarios, Family family, boolean linuxServes) {
    int gid = rdma.gidIndex(family);
    List<String> guestLines = new ArrayList<>();
    List<String> commands = new ArrayList<>();
    for (int i = 0; i < scenarios.size(); i++) {
      String guest = scenarios.get(i).line(FIRST_PORT + i, family.guestGidIndex());
      String here = scenarios.get(i).line(FIRST_PORT + i, gid);
      guestLines.add(linuxServes ? guest : guest + " --host " + LinuxPeer.HERE);
      String words = here + " --device " + rdma.device().device();
      commands.add(linuxServes ? "pv client " + words + " --host " + LinuxPeer.GUEST : "pv server " + words);
    }
    copyBatch(guestLines);
    String python = "python3 /root/pv.py " + (linuxServes ? "server" : "client") + " --batch " + BATCH;
    try (Running guest = peer.start(python, LIMIT);
        Running here = rdma.start(name, commands)) {
      String ours = here.await(LIMIT).output();
      return outcomes(scenarios, ours, guest.await(LIMIT).output());
    }
  }

  private void copyBatch(List<String> lines) {
    try {
      Path file = Files.createTempFile("batch", ".txt");
      Files.write(file, lines);
      peer.copyIn(file, BATCH);
      Files.delete(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static List<Outcome> outcomes(List<Scenario> scenarios, String ours, String theirs) {
    List<String> here = Rdma4j.outputs(ours);
    List<String> guest = new ArrayList<>();
    int start = 0;
    for (var each = END.matcher(theirs); each.find(); start = each.end()) {
      guest.add(theirs.substring(start, each.end()));
    }
    List<Outcome> all = new ArrayList<>();
    for (int i = 0; i < scenarios.size(); i++) {
      String mine = i < here.size() ? here.get(i) : "(not reached), all of it:\n" + ours;
      String other = i < guest.size() ? guest.get(i) : "(not reached), all of it:\n" + theirs;
      all.add(new Outcome(scenarios.get(i), mine, other));
    }
    return all;
  }

  /**
   * How one of them went.
   *
   * @param scenario which one
   * @param here what rdma4j printed
   * @param guest what Linux printed
   */
  record Outcome(Scenario scenario, String here, String guest) {
    void check(boolean linuxServes) {
      String text = scenario + "\n--- rdma4j:\n" + here.strip() + "\n--- Linux:\n" + guest.strip() + "\n";
      String client = linuxServes ? here : guest;
      String server = linuxServes ? guest : here;
      assertAll(
          () -> assertEquals(scenario.client(), Completions.parse(client), "client's completions of " + text),
          () -> assertEquals(scenario.server(), Completions.parse(server), "server's completions of " + text),
          () -> assertFalse(Rdma4j.hasWarned(here), text),
          () -> assertSays(client, scenario.clientSays(), text),
          () -> assertSays(server, scenario.serverSays(), text),
          () -> assertSays(client, List.of("client " + scenario.name() + ": end"), text),
          () -> assertSays(server, List.of("server " + scenario.name() + ": end"), text));
    }

    private static void assertSays(String output, List<String> lines, String text) {
      lines.forEach(line -> assertTrue(output.contains(line), () -> "\"" + line + "\" is not said: " + text));
    }
  }
}
