package org.rdma4j.ulp.rdmaclient;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rdma4j.ulp.command.Command;
import org.rdma4j.ulp.command.UsageException;

class ProgramTest {
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

  @Test
  void options() throws Exception {
    assertEquals(new Options("0.0.0.0", "7471"), Options.parse("rdma_server", "0.0.0.0"));
    assertEquals(new Options("::1", "7999"), Options.parse("rdma_client", "127.0.0.1", "-s", "::1", "-p7999"));
    for (String bad : List.of("-x", "-p", "operand")) {
      assertThrows(UsageException.class, () -> Options.parse("rdma_client", "127.0.0.1", bad), bad);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void theHelpIsTheOriginals(boolean server) throws IOException {
    String name = server ? "rdma_server" : "rdma_client";
    try (InputStream golden = getClass().getResourceAsStream("/usage/" + name + ".txt")) {
      assertEquals(1, run(server, "-x"));
      assertEquals(new String(golden.readAllBytes(), StandardCharsets.UTF_8), out.toString(StandardCharsets.UTF_8));
    }
    assertEquals(name + ": invalid option -- 'x'\n", err.toString(StandardCharsets.UTF_8));
  }

  @Test
  void withoutDevicesThereIsNoConnection() {
    assertEquals(255, run(false));
    assertEquals("No RDMA devices were detected\n", err.toString(StandardCharsets.UTF_8));
    assertEquals("rdma_client: start\nrdma_client: end -1\n", out.toString(StandardCharsets.UTF_8));
  }

  private int run(boolean server, String... arguments) {
    return Command.execute(
        new Program(server, null, false),
        new PrintStream(out, true, StandardCharsets.UTF_8),
        new PrintStream(err, true, StandardCharsets.UTF_8),
        arguments);
  }
}
