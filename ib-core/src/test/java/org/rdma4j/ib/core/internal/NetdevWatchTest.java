package org.rdma4j.ib.core.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** The watch on network interfaces. */
@Timeout(60)
@EnabledOnOs(OS.LINUX)
class NetdevWatchTest {
  private record Result(int status, String output) {}

  private static Result inNamespace(List<String> command) throws IOException, InterruptedException {
    List<String> whole =
        new ArrayList<>(List.of("unshare", "-rn", "sh", "-c", "ip link set lo up && exec \"$0\" \"$@\""));
    whole.addAll(command);
    try {
      Process process = new ProcessBuilder(whole).redirectErrorStream(true).start();
      String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      return new Result(process.waitFor(), output);
    } catch (IOException e) {
      return new Result(-1, e.getMessage());
    }
  }

  @Test
  void followsTheInterfaceAtOnce() throws Exception {
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
                NetdevProbe.class.getName()));
    assertEquals(0, result.status(), result.output());
  }

  @Test
  void endsWhenAsked() {
    AtomicInteger changes = new AtomicInteger();
    NetdevWatch watch = new NetdevWatch(changes::incrementAndGet);
    watch.start();
    watch.close();
    assertTrue(Thread.getAllStackTraces().keySet().stream().noneMatch(each -> each.getName().equals("ib-core netdev")));
  }

  @Test
  void aWakeUpBeforeTheWaitIsNotLost() {
    RouteNetlink netlink = RouteNetlink.open();
    assertNotNull(netlink);
    netlink.wakeup();
    netlink.awaitChange();
    netlink.close();
  }
}
