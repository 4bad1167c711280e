package org.rdma4j.it.peer;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicContainer;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * Every operation and every way to fail of {@code pv} between each device of ours and Linux, in both directions and
 * over IPv4 and IPv6: completions of both sides, every byte moved, every packet of the link.
 */
@PeerTest
class ScenarioIT {
  private static final int CAPTURED = 20_000;

  private final LinuxPeer peer;

  ScenarioIT(LinuxPeer peer) {
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
              String name = "pv-" + device.device() + "-" + family + (linuxServes ? "-linux-serves" : "-rdma4j-serves");
              return Lazily.container(name, () -> play(name, group, family, linuxServes));
            });
  }

  private Stream<DynamicNode> play(String name, ScenarioGroup group, Family family, boolean linuxServes) {
    LinkCapture capture = peer.capture(name, CAPTURED);
    List<ScenarioGroup.Outcome> outcomes;
    try (capture) {
      outcomes = group.play(name, Scenario.all(linuxServes), family, linuxServes);
    }
    return Stream.concat(
        outcomes.stream()
            .map(each -> DynamicTest.dynamicTest(each.scenario().toString(), () -> each.check(linuxServes))),
        Stream.of(DynamicTest.dynamicTest("every packet is right", capture::check)));
  }
}
