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

  private record Result(int status, String output) {}

  private static Result inNamespace(List<String> command) {
    List<String> whole = new ArrayList<>(List.of("unshare", "-rn", "sh", "-c", SET_UP));
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
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    Result result =
        inNamespace(
            List.of(
                java,
                "--enable-native-access=ALL-UNNAMED",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                WireProbe.class.getName(),
                check));
    assertEquals(0, result.status(), result.output());
  }
}
