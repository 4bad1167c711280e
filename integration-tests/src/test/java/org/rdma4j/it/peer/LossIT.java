package org.rdma4j.it.peer;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** RC while the guest's link loses 2 % of the packets each way: everything arrives, once, in order, unharmed. */
@PeerTest
class LossIT {
  private static final Pattern DROPPED = Pattern.compile("qdisc netem .*\\n.*dropped (\\d+)");

  private final LinuxPeer peer;
  private final Rdma4j rdma;

  LossIT(LinuxPeer peer) {
    this.peer = peer;
    rdma = new Rdma4j(peer);
  }

  @ParameterizedTest
  @EnumSource(Family.class)
  void pingpongs(Family family) {
    List<Pingpong> runs =
        List.of(
            new Pingpong("rc", 256, 1000, 100, false, 18600),
            new Pingpong("rc", 1024, 65535, 10, true, 18601),
            new Pingpong("srq", 1024, 4096, 50, false, 18602));
    PingpongGroup groups = new PingpongGroup(peer, rdma);
    losing(() -> groups.linuxServes("loss-linux-serves", runs, family).forEach(PingpongGroup.Outcome::check));
    losing(() -> groups.rdma4jServes("loss-rdma4j-serves", runs, family).forEach(PingpongGroup.Outcome::check));
  }

  @Test
  void scenarios() {
    ScenarioGroup group = new ScenarioGroup(peer, rdma);
    for (boolean linuxServes : List.of(true, false)) {
      String name = linuxServes ? "loss-pv-linux-serves" : "loss-pv-rdma4j-serves";
      losing(
          () ->
              group.play(name, Scenario.underLoss(), Family.IPV4, linuxServes)
                  .forEach(outcome -> outcome.check(linuxServes)));
    }
  }

  private void losing(Runnable traffic) {
    try (LinuxPeer.Disturbance loss = peer.disturb("loss", "2%")) {
      traffic.run();
      String text = peer.exec("tc -s qdisc show dev eth0; tc -s qdisc show dev ifb0").ok().output();
      List<Integer> dropped =
          DROPPED.matcher(text).results().map((MatchResult each) -> Integer.valueOf(each.group(1))).toList();
      assertTrue(dropped.size() == 2 && !dropped.contains(0), () -> loss + " was not both ways: " + text);
    }
  }
}
