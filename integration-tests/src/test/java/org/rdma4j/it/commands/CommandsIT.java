package org.rdma4j.it.commands;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The shipped product, run by its start script as a person runs it, on loopback addresses of its own. */
@Timeout(300)
class CommandsIT {
  private static final String ADDRESSES = "127.71.83.";
  private static final int WAIT_SECONDS = 120;
  private static final String LINKS =
      "rdma link add rxe0 type rxe netdev lo addr " + ADDRESSES + "1; rdma link add rxe1 type rxe netdev lo addr "
          + ADDRESSES + "2; ";

  @TempDir private Path directory;

  /** What a run left. */
  private record Result(int status, List<String> lines, String errors) {
    long count(String regex) {
      return lines.stream().filter(line -> line.matches(regex)).count();
    }

    @Override
    public String toString() {
      return "status " + status + "\n" + String.join("\n", lines) + "\n" + errors;
    }
  }

  @Test
  void demo() throws Exception {
    Result result = rdma(LINKS + "demo -t 300");
    assertEquals(0, result.status(), result::toString);
    assertEquals(1, result.count("All as promised: \\d+ checks\\."), result::toString);
    assertEquals("", result.errors());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "ibv_rc_pingpong -m 256 -s 1000", "ibv_rc_pingpong -e -s 100000", "ibv_rc_pingpong -N -m 4096 -s 65535",
        "ibv_rc_pingpong -s 1", "ibv_uc_pingpong -s 63", "ibv_uc_pingpong -e -m 4096 -s 9000",
        "ibv_ud_pingpong -s 4096", "ibv_ud_pingpong -e -s 1", "ibv_srq_pingpong -q 3", "ibv_srq_pingpong -e -s 8000"
      })
  void pingpong(String command) throws Exception {
    String common = command + " -c -g 1 -n 30 -p " + freePort();
    Result result = rdma(LINKS + common + " -d rxe0 & ; " + common + " -d rxe1 127.0.0.1; rdma resource");
    assertEquals(0, result.status(), result::toString);
    assertEquals(2, result.count("30 iters in \\d+\\.\\d\\d seconds = \\d+\\.\\d\\d usec/iter"), result::toString);
    String gid = ", PSN 0x[0-9a-f]{6}[,:] GID ::ffff:" + ADDRESSES;
    assertTrue(result.count("  local address:  LID 0x0000, QPN 0x0000[12][0-9a-f]" + gid + "1") > 0, result::toString);
    assertTrue(result.count("  remote address: LID 0x0000, QPN 0x0000[12][0-9a-f]" + gid + "2") > 0, result::toString);
    assertEquals(1, result.count("1: rxe1: pd 1 cq 1 qp 1 cm_id 0 mr 1 ctx 0 srq 0 "), result::toString);
    assertEquals("", result.errors());
  }

  @Test
  void failuresHaveAStatusAndALineOnTheErrorStream() throws Exception {
    Result result = rdma("ibv_rc_pingpong -d rxe0");
    assertEquals(1, result.status());
    assertEquals("IB device rxe0 not found", result.errors().strip());
    assertEquals(List.of(), result.lines());
    Result noGid = rdma(LINKS + "ibv_rc_pingpong -d rxe0 -g 7");
    assertEquals(1, noGid.status());
    assertEquals("can't read sgid of index 7", noGid.errors().strip());
  }

  /** What a newcomer types: the provider's bundle stopped by its number, and started again. */
  @Test
  void bundlesAreStoppedAndStartedByNumber() throws Exception {
    Result bundles = rdma("lb -s");
    String rxe =
        bundles.lines().stream()
            .filter(line -> line.contains("org.rdma4j.rxe "))
            .map(line -> line.substring(0, line.indexOf('|')).strip())
            .findFirst()
            .orElseThrow(() -> new AssertionError(bundles.toString()));
    Result result = rdma(LINKS + "stop " + rxe + "; ibv_devinfo -l; start " + rxe + "; ibv_devinfo -l");
    assertEquals(1, result.count("0 HCAs found:"), result::toString);
    assertEquals(1, result.count("2 HCAs found:"), result::toString);
  }

  @Test
  void monitorAndCapture() throws Exception {
    Path file = directory.resolve("dump");
    String pingpong = "ibv_rc_pingpong -n 200 -g 1 -p " + freePort();
    String comeAndGo = "rdma link add rxe5 type rxe netdev lo addr " + ADDRESSES + "5; rdma link delete rxe5; ";
    Result result =
        rdma(
            LINKS + "rdma monitor count 1 & ; " + comeAndGo + comeAndGo + "ibdump -d rxe0 -c 5 -w " + file + " & ; "
                + pingpong + " -d rxe0 & ; " + pingpong + " -d rxe1 127.0.0.1");
    assertEquals(0, result.status(), result::toString);
    assertEquals(
        1, result.count("\\[(REGISTER|UNREGISTER|NETDEV_ATTACH)\\]\tdev \\d+ rxe5.*"), result::toString);
    assertEquals(1, result.count("Captured: +\\d+ packets, +\\d+ bytes"), result::toString);
    assertTrue(Files.size(file) > 5 * 60, result::toString);
  }

  @Test
  void captureOfACard() throws Exception {
    Path file = directory.resolve("dump");
    String pingpong = "ibv_rc_pingpong -n 200 -g 1 -p " + freePort();
    Result result =
        rdma(
            LINKS + "mlx5 plug addr " + ADDRESSES + "6; ibdump -d mlx5_0 -c 5 -w " + file + " & ; "
                + pingpong + " -d mlx5_0 & ; " + pingpong + " -d rxe1 127.0.0.1; ibv_wc_explain 10 0x41 mlx5_0 5");
    assertEquals(1, result.count("Captured: +\\d+ packets, +\\d+ bytes"), result::toString);
    assertEquals(1, result.count("vendor error 0x41 of mlx5_0: the peer answered NAK: .*"), result::toString);
    assertTrue(Files.size(file) > 5 * 60, result::toString);
  }

  @Test
  void explanations() throws Exception {
    Result result = rdma(LINKS + "ibv_wc_explain 10 0x41");
    assertEquals(0, result.status(), result::toString);
    assertEquals(1, result.count("REM_ACCESS_ERR \\(remote access error\\): found on the .*"), result::toString);
    assertEquals(1, result.count("vendor error 0x41 of rxe0, rxe1: the peer answered NAK: .*"), result::toString);
    assertEquals("", result.errors());
  }

  @Test
  void pciTools() throws Exception {
    Result result = rdma("lspci -v; setpci --dumpregs");
    assertEquals(0, result.status(), result::toString);
    assertEquals(1, result.count(" {5}04 W COMMAND"), result::toString);
    assertEquals("", result.errors());
    Result mistake = rdma("setpci -s 3: COMAND");
    assertEquals(1, mistake.status());
    assertTrue(mistake.errors().startsWith("setpci: Unknown register \"COMAND\"."), mistake::toString);
  }

  @Test
  void modelledCards() throws Exception {
    Result result =
        rdma(
            "mlx5 plug slot 0000:05:00.0 addr " + ADDRESSES + "9; lspci -v -s 5:; mlx5 hem;"
                + " mlx5 unplug 0000:05:00.0; lspci");
    assertEquals(0, result.status(), result::toString);
    assertEquals(1, result.count("05:00.0 Ethernet controller: .*ConnectX-5 Ex.*"), result::toString);
    assertEquals(1, result.count("\\tKernel driver in use: mlx5_core"), result::toString);
    assertEquals(1, result.count(" {2}eq +64 +[1-9].*"), result::toString);
    assertEquals("", result.errors());
    Result mistake = rdma("mlx5 unplug 0000:05:00.0");
    assertEquals(1, mistake.status());
    assertTrue(mistake.errors().startsWith("mlx5: there is no modelled card in 0000:05:00.0"), mistake::toString);
  }

  @Test
  void cardsAndTheirDriver() throws Exception {
    String reload =
        "devlink dev param set pci/0000:03:00.0 name io_eq_size value 64 cmode driverinit; "
            + "devlink dev reload pci/0000:03:00.0; ";
    Result result =
        rdma("mlx5 plug addr " + ADDRESSES + "3; lspci -v; devlink dev info; " + reload + "devlink health");
    assertEquals(0, result.status(), result::toString);
    assertEquals(1, result.count("03:00.0 Ethernet controller: Mellanox Technologies MT28800 .*"), result::toString);
    assertEquals(1, result.count("\tFlags: bus master, fast devsel, latency 0"), result::toString);
    assertEquals(1, result.count("\tCapabilities: \\[9c\\] MSI-X: Enable\\+ Count=\\d+ Masked-"), result::toString);
    assertEquals(1, result.count("\tKernel driver in use: mlx5_core"), result::toString);
    assertEquals(1, result.count(" +fw.version 16\\.\\d+\\.\\d+"), result::toString);
    assertEquals(1, result.count(" +driver_reinit"), result::toString);
    assertEquals(2, result.count(" +state healthy error 0 recover 0.*"), result::toString);
    assertEquals("", result.errors());
  }

  @Test
  void simulate() throws Exception {
    Result result = rdma("simulate --seeds 200 --first 500");
    assertEquals(0, result.status(), result::toString);
    assertEquals(1, result.count("200 seeds in .* operations, .* packets, .* faults"), result::toString);
    assertEquals("", result.errors());
    Result mistake = rdma("simulate --seeds none");
    assertEquals(1, mistake.status());
    assertTrue(mistake.errors().startsWith("simulate: invalid argument 'none' for --seeds: "), mistake::toString);
  }

  /** One container serves, another is its client; the peer hears at once that the process is told to end. */
  @Test
  void aProcessThatIsToldToEndSaysGoodbye() throws Exception {
    String link = "rdma link add rxe0 type rxe netdev lo addr " + ADDRESSES;
    Path served = directory.resolve("served");
    Path errors = directory.resolve("served.err");
    Process server = start(link + "1; rping -s -v", served.toFile(), errors.toFile());
    Process client = null;
    try {
      client =
          start(
              link + "2; rping -c -a " + ADDRESSES + "1 -C 100000000",
              directory.resolve("asked").toFile(),
              directory.resolve("asked.err").toFile());
      long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(WAIT_SECONDS);
      while (!Files.readString(served).contains("server ping data: rdma-ping-9: ")) {
        assertTrue(System.nanoTime() - end < 0 && client.isAlive(), () -> "no pings");
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
      }
      server.destroy();
      assertTrue(client.waitFor(WAIT_SECONDS, TimeUnit.SECONDS), "the client does not end");
      assertTrue(server.waitFor(WAIT_SECONDS, TimeUnit.SECONDS), "the server does not end");
    } finally {
      server.destroyForcibly();
      if (client != null) {
        client.destroyForcibly();
      }
    }
    String heard = Files.readString(directory.resolve("asked.err"));
    assertTrue(heard.startsWith("client DISCONNECT EVENT..."), heard);
    assertEquals(0, client.exitValue(), heard);
    assertEquals(128 + 15, server.exitValue());
    assertEquals("", Files.readString(errors));
  }

  private Process start(String script, File out, File err) throws IOException {
    ProcessBuilder builder = new ProcessBuilder("../rdma", "--bare", script).redirectOutput(out).redirectError(err);
    builder.environment().put("RDMA_JAVA", ProcessHandle.current().info().command().orElse("java"));
    return builder.start();
  }

  private Result rdma(String script) throws IOException, InterruptedException {
    File out = directory.resolve("out").toFile();
    File err = directory.resolve("err").toFile();
    Process process = start(script, out, err);
    try {
      assertTrue(process.waitFor(WAIT_SECONDS, TimeUnit.SECONDS), () -> "still running: " + script);
    } finally {
      process.destroyForcibly();
    }
    return new Result(process.exitValue(), Files.readAllLines(out.toPath()), Files.readString(err.toPath()));
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }
}
