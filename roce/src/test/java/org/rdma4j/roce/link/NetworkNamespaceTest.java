package org.rdma4j.roce.link;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Runs the checks of {@link WireProbe} in a network namespace of their own, where the loopback device can have any
 * address and can be told not to take datagrams that are still to be split.
 */
class NetworkNamespaceTest {
  private static final String SET_UP =
      String.join(
          " && ",
          "ip link set lo up mtu 65536 gso_max_segs 1",
          "ip address add 192.0.2.1/32 dev lo",
          "ip address add 192.0.2.2/32 dev lo",
          "ip -6 address add 2001:db8::1/128 dev lo nodad",
          "ip -6 address add 2001:db8::2/128 dev lo nodad",
          "ip -6 address add fe80::1/64 dev lo nodad",
          "ip -6 address add fe80::2/64 dev lo nodad",
          "exec \"$0\" \"$@\"");

  /** Groups of IPv6 need another interface than that for loopback, which does not loop them. */
  private static final String SET_UP_WIRE =
      String.join(
          " && ",
          "ip link set lo up && ip link add wire type veth peer name end && ip link set wire up && ip link set end up",
          "ip address add 192.0.2.1/24 dev wire && ip address add 192.0.2.2/24 dev wire",
          "ip -6 address add 2001:db8::1/64 dev wire nodad && ip -6 address add 2001:db8::2/64 dev wire nodad",
          "until ip -6 route show table local dev wire | grep -q ff00; do sleep 0.1; done",
          "exec \"$0\" \"$@\"");

  /** Two namespaces, joined by a cable; the command runs in both at once, with the addresses turned round. */
  private static final String TWO_HOSTS =
      String.join(
          "\n",
          "set -e",
          "unshare -n sleep 60 & other=$!",
          "trap 'kill $other' EXIT",
          "until [ \"$(readlink /proc/$other/ns/net)\" != \"$(readlink /proc/$$/ns/net)\" ]; do :; done",
          "ip link add wire type veth peer name wire netns $other",
          "ip address add 192.0.2.1/24 dev wire && ip -6 address add 2001:db8::1/64 dev wire nodad",
          "there=\"nsenter -t $other -n\"",
          "$there ip address add 192.0.2.2/24 dev wire && $there ip -6 address add 2001:db8::2/64 dev wire nodad",
          "ip link set wire up && $there ip link set wire up",
          // The interface takes part in IPv6 a moment later.
          "until ip -6 route show table local dev wire | grep -q ff00; do sleep 0.1; done",
          "until $there ip -6 route show table local dev wire | grep -q ff00; do sleep 0.1; done",
          "$there \"$0\" \"$@\" 2 1 & peer=$!",
          "\"$0\" \"$@\" 1 2",
          "wait $peer");

  private record Result(int status, String output) {}

  private static Result inNamespace(List<String> command) {
    return run(SET_UP, command);
  }

  private static Result run(String script, List<String> command) {
    List<String> whole = new ArrayList<>(List.of("unshare", "-rn", "sh", "-c", script));
    whole.addAll(command);
    try {
      Process process = new ProcessBuilder(whole).redirectErrorStream(true).start();
      String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      process.waitFor(10, TimeUnit.SECONDS);
      return new Result(process.exitValue(), output);
    } catch (IOException e) {
      return new Result(-1, e.getMessage());
    } catch (InterruptedException e) {
      throw new UncheckedIOException(new IOException(e));
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "segmentedIpv4OnTheWire", "singleIpv4OnTheWire", "segmentedIpv6OnTheWire", "ipv6", "linkLocal",
        "udpChecksumZero", "nioMissesUdpChecksumZero", "pathTooNarrow"
      })
  @Timeout(60)
  void probe(String check) {
    Result possible = inNamespace(List.of("true"));
    assumeTrue(possible.status() == 0, "no network namespace can be made here: " + possible.output().strip());
    Result result = inNamespace(javaProbe(check));
    assertEquals(0, result.status(), result.output());
  }

  @Test
  @Timeout(60)
  void multicast() {
    Result possible = run(SET_UP_WIRE, List.of("true"));
    assumeTrue(possible.status() == 0, "no network namespace can be made here: " + possible.output().strip());
    Result result = run(SET_UP_WIRE, javaProbe("multicast"));
    assertEquals(0, result.status(), result.output());
  }

  /** Groups joined by IGMP and MLD, between two hosts with a wire of their own. */
  @Test
  @Timeout(60)
  void multicastBetweenTwoHosts() {
    Result possible = run(TWO_HOSTS, List.of("echo"));
    assumeTrue(possible.status() == 0, "no network namespaces can be made here: " + possible.output().strip());
    Result result = run(TWO_HOSTS, javaProbe("multicastToAnother"));
    assertEquals(0, result.status(), result.output());
  }

  private static List<String> javaProbe(String check) {
    return List.of(
        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        "--enable-native-access=ALL-UNNAMED",
        "-XX:TieredStopAtLevel=1",
        "-cp",
        System.getProperty("java.class.path"),
        WireProbe.class.getName(),
        check);
  }
}
