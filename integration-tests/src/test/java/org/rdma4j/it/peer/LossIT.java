package org.rdma4j.it.peer;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicContainer;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * RC while the guest's link loses 2 % of the packets each way: everything arrives, once, in order, unharmed.
 *
 * <p>There is no {@code ibv_rc_pingpong} here: a side that has got everything ends, and its queue pair with it. When
 * its last ACK is lost, nobody is there to repeat it, and the other side asks for ever, because that is what the tool's
 * {@code retry_cnt} of 7 means to rxe. It is so between two Linux guests too: of 250 runs (10 exchanges of 1024 bytes,
 * 2 % loss) 11 never ended on one side while the other had ended well. The sides of {@code pv} wait for each other.
 */
@PeerTest
class LossIT {
  private static final Pattern DROPPED = Pattern.compile("qdisc netem .*\\n.*dropped (\\d+)");

  private final LinuxPeer peer;

  LossIT(LinuxPeer peer) {
    this.peer = peer;
  }

  @TestFactory
  Stream<DynamicContainer> linuxServes() {
    return Stream.of(Device.values()).flatMap(device -> each(device, true));
  }

  @TestFactory
  Stream<DynamicContainer> rdma4jServes() {
    return Stream.of(Device.values()).flatMap(device -> each(device, false));
  }

  private Stream<DynamicContainer> each(Device device, boolean linuxServes) {
    ScenarioGroup group = new ScenarioGroup(peer, new Rdma4j(peer, device));
    return Stream.of(Family.values())
        .map(
            family -> {
              String way = linuxServes ? "-linux-serves" : "-rdma4j-serves";
              String name = "loss-" + device.device() + "-" + family + way;
              return Lazily.container(name, () -> play(name, group, family, linuxServes));
            });
  }

  private Stream<DynamicNode> play(String name, ScenarioGroup group, Family family, boolean linuxServes) {
    List<ScenarioGroup.Outcome> outcomes = new ArrayList<>();
    losing(() -> outcomes.addAll(group.play(name, Scenario.underLoss(), family, linuxServes)));
    return outcomes.stream()
        .map(each -> DynamicTest.dynamicTest(each.scenario().toString(), () -> each.check(linuxServes)));
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
