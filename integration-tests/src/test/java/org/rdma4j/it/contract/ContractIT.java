package org.rdma4j.it.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * What every provider promises, in the shipped product as its start script runs it: each provider with itself, the two
 * with each other, and the one to start from. A test for each case; the report by name is printed at the end.
 */
@Timeout(600)
class ContractIT {
  private static final String ADDRESSES = "127.72.83.";
  private static final int WAIT_SECONDS = 500;
  private static final Pattern RESULT = Pattern.compile("(PASS|SKIP|FAIL) ([a-z0-9.-]+)(?:: (.*))?");
  private static final ContractTable TABLE = new ContractTable();

  @TempDir private Path directory;

  @AfterAll
  static void print() throws IOException {
    Files.createDirectories(Path.of("target"));
    Files.writeString(Path.of("target/contract-report.txt"), TABLE.text());
    System.out.println(TABLE.text());
  }

  private static String rxe(String name, int host) {
    return "rdma link add " + name + " type rxe netdev lo addr " + ADDRESSES + host + "; ";
  }

  private static String loop(String name, int host) {
    return "rdma link add " + name + " type loop netdev lo addr " + ADDRESSES + host;
  }

  private static String card(int slot, int host) {
    return "mlx5 plug slot 0000:0" + slot + ":00.0 addr " + ADDRESSES + host;
  }

  @TestFactory
  Stream<DynamicTest> rxe() throws Exception {
    return contract("rxe", rxe("rxe0", 1) + rxe("rxe1", 2), "-d rxe0 -d rxe1 -u");
  }

  @TestFactory
  Stream<DynamicTest> twoCardsOneOfWhichIsPulledOut() throws Exception {
    String pulled = "-o 'mlx5 pull 0000:05:00.0' -b '" + card(5, 3) + "'";
    return contract("mlx5", card(5, 3) + "; " + card(6, 4) + "; ", "-d mlx5_0 -d mlx5_1 " + pulled);
  }

  @TestFactory
  Stream<DynamicTest> rxeToCard() throws Exception {
    return contract("rxe>mlx5", card(5, 5) + "; " + rxe("rxe0", 6), "-d rxe0 -d mlx5_0 -u");
  }

  @TestFactory
  Stream<DynamicTest> cardToRxe() throws Exception {
    String unplugged = "-o 'mlx5 unplug 0000:05:00.0' -b '" + card(5, 7) + "'";
    return contract("mlx5>rxe", card(5, 7) + "; " + rxe("rxe0", 8), "-d mlx5_0 -d rxe0 " + unplugged);
  }

  @TestFactory
  Stream<DynamicTest> theOneToStartFrom() throws Exception {
    String deleted = "-o 'rdma link delete loop0' -b '" + loop("loop0", 9) + "'";
    return contract(
        "template", loop("loop0", 9) + "; " + loop("loop1", 10) + "; ", "-d loop0 -d loop1 " + deleted);
  }

  @TestFactory
  Stream<DynamicTest> oneDeviceWithItself() throws Exception {
    return contract("mlx5>itself", card(5, 11) + "; ", "-d mlx5_0 -u");
  }

  @Test
  void theCommandTellsWhatIsWrongWithItsArguments() throws Exception {
    assertEquals("IB device nix not found", run("provider_contract -d nix", 1).errors().strip());
    String usage = run("provider_contract", 1).errors();
    assertTrue(usage.startsWith("provider_contract: one or two devices are needed"), usage);
    String half = run("provider_contract -d nix -o 'mlx5 pull'", 1).errors();
    assertTrue(half.startsWith("provider_contract: give --take-out and --put-back together"), half);
    List<String> list = run("provider_contract -l", 0).lines();
    assertTrue(list.contains("rc.write.bytes: A WRITE of any length brings exactly its bytes, and touches none beside"
        + " them."), list::toString);
    String json =
        String.join("\n", run(loop("loop0", 12) + "; provider_contract -d loop0 -j -c 'device[.]limits'", 0).lines());
    assertTrue(json.startsWith("{\"a\":\"loop0\",\"b\":\"loop0\",\"seed\":1,\"pass\":1,\"skip\":0,\"fail\":0,"), json);
  }

  private Stream<DynamicTest> contract(String pairing, String devices, String options) throws Exception {
    // While the connection manager is there the queue pair 1 of a port is in use.
    Result result = run("felix:stop org.rdma4j.rdma.cm; " + devices + "provider_contract " + options, -1);
    List<Matcher> cases = result.lines().stream().map(RESULT::matcher).filter(Matcher::matches).toList();
    assertTrue(cases.size() > 200, result::toString);
    cases.forEach(each -> TABLE.add(pairing, each.group(2), each.group(1), each.group(3)));
    boolean failed = cases.stream().anyMatch(each -> each.group(1).equals("FAIL"));
    assertEquals(failed ? 1 : 0, result.status(), result::toString);
    return cases.stream().map(each -> DynamicTest.dynamicTest(each.group(2), () -> tell(each)));
  }

  private static void tell(Matcher result) {
    switch (result.group(1)) {
      case "SKIP" -> Assumptions.abort(result.group(3));
      case "FAIL" -> fail(result.group(3));
      default -> {
        // The promise is kept.
      }
    }
  }

  /** What a run left. */
  private record Result(int status, List<String> lines, String errors) {
    @Override
    public String toString() {
      return "status " + status + "\n" + String.join("\n", lines) + "\n" + errors;
    }
  }

  private Result run(String script, int status) throws IOException, InterruptedException {
    File out = directory.resolve("out").toFile();
    File err = directory.resolve("err").toFile();
    ProcessBuilder builder = new ProcessBuilder("../rdma", "--bare", script).redirectOutput(out).redirectError(err);
    builder.environment().put("RDMA_JAVA", ProcessHandle.current().info().command().orElse("java"));
    Process process = builder.start();
    try {
      assertTrue(process.waitFor(WAIT_SECONDS, TimeUnit.SECONDS), () -> "still running: " + script);
    } finally {
      process.destroyForcibly();
    }
    Result result = new Result(process.exitValue(), Files.readAllLines(out.toPath()), Files.readString(err.toPath()));
    if (status >= 0) {
      assertEquals(status, result.status(), result::toString);
    }
    return result;
  }
}
