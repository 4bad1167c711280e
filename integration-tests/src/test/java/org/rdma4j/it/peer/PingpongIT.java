package org.rdma4j.it.peer;

import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicContainer;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.rdma4j.it.peer.PingpongGroup.Outcome;

/**
 * The four ping-pongs of rdma-core between each device of ours and Linux in both directions, over IPv4 and IPv6, at
 * three path MTUs, from 1 byte to 8 MiB, polling and with events; every payload checked, and the packets of each group
 * up to a bound.
 */
@PeerTest
class PingpongIT {
  /** All of the messages up to 64 KiB and the first of the large ones; tshark takes seconds for more. */
  private static final int CAPTURED = 12_000;

  private final LinuxPeer peer;

  PingpongIT(LinuxPeer peer) {
    this.peer = peer;
  }

  @TestFactory
  Stream<DynamicContainer> linuxServes() {
    return Stream.of(Device.values()).flatMap(each -> each(each, "linux-serves", group(each)::linuxServes));
  }

  @TestFactory
  Stream<DynamicContainer> rdma4jServes() {
    return Stream.of(Device.values()).flatMap(each -> each(each, "rdma4j-serves", group(each)::rdma4jServes));
  }

  private PingpongGroup group(Device device) {
    return new PingpongGroup(peer, new Rdma4j(peer, device));
  }

  private Stream<DynamicContainer> each(Device device, String direction, Direction runner) {
    return Stream.of("rc", "uc", "ud", "srq")
        .flatMap(
            tool ->
                Stream.of(Family.values())
                    .map(
                        family -> {
                          String name =
                              "%s-%s-%s-%s"
                                  .formatted(
                                      device.device(), tool, family.name().toLowerCase(Locale.ROOT), direction);
                          List<Pingpong> runs = Pingpong.matrix(tool);
                          return Lazily.container(name, () -> group(name, () -> runner.run(name, runs, family)));
                        }));
  }

  private Stream<DynamicNode> group(String name, Supplier<List<Outcome>> runs) {
    LinkCapture capture = peer.capture(name, CAPTURED);
    List<Outcome> outcomes;
    try (capture) {
      outcomes = runs.get();
    }
    return Stream.concat(
        outcomes.stream().map(outcome -> DynamicTest.dynamicTest(outcome.run().toString(), outcome::check)),
        Stream.of(DynamicTest.dynamicTest("every packet is right", capture::check)));
  }

  /** Runs a group in one of the two directions. */
  private interface Direction {
    List<Outcome> run(String name, List<Pingpong> runs, Family family);
  }
}
