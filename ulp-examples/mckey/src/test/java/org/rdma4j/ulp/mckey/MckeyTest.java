package org.rdma4j.ulp.mckey;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.rdma4j.ulp.command.Command;

class MckeyTest {
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

  @Test
  void theHelpIsTheOriginals() throws IOException {
    try (InputStream golden = getClass().getResourceAsStream("/usage/mckey.txt")) {
      assertEquals(1, run("-x"));
      assertEquals(new String(golden.readAllBytes(), StandardCharsets.UTF_8), out.toString(StandardCharsets.UTF_8));
    }
    assertEquals("mckey: invalid option -- 'x'\n", err.toString(StandardCharsets.UTF_8));
  }

  @Test
  void withoutDevicesThereIsNoConnection() {
    assertEquals(1, run("-m", "239.192.0.1"));
    assertEquals("No RDMA devices were detected\n", err.toString(StandardCharsets.UTF_8));
    assertTrue(out.toString(StandardCharsets.UTF_8).isEmpty());
  }

  private int run(String... arguments) {
    return Command.execute(
        new Mckey(null, false),
        new PrintStream(out, true, StandardCharsets.UTF_8),
        new PrintStream(err, true, StandardCharsets.UTF_8),
        arguments);
  }
}
