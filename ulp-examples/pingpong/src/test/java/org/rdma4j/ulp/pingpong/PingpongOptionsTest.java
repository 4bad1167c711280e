package org.rdma4j.ulp.pingpong;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rdma4j.roce.address.PathMtu;
import org.rdma4j.ulp.command.Command;
import org.rdma4j.ulp.command.CommandException;
import org.rdma4j.ulp.command.UsageException;

class PingpongOptionsTest {
  @Test
  void defaultsAreTheOriginals() throws Exception {
    PingpongOptions options = PingpongOptions.parse(Program.RC);
    assertEquals(18515, options.port());
    assertNull(options.device());
    assertNull(options.server());
    assertEquals(1, options.ibPort());
    assertEquals(4096, options.size());
    assertEquals(PathMtu.MTU_1024, options.mtu());
    assertEquals(500, options.receiveDepth());
    assertEquals(1000, options.iterations());
    assertEquals(1, options.queuePairs());
    assertEquals(-1, options.gidIndex());
    assertFalse(options.events() || options.checked() || options.newSend());
    assertEquals(2048, PingpongOptions.parse(Program.UD).size());
    assertEquals(16, PingpongOptions.parse(Program.SRQ).queuePairs());
  }

  @Test
  void allThatCanBeSet() throws Exception {
    PingpongOptions options =
        PingpongOptions.parse(
            Program.SRQ, "-p", "0x10", "-drxe1", "-i", "2", "-s", "8388608", "--mtu=4096", "-q2", "--rx-depth", "20",
            "-n", "4", "-l", "3", "-ecg1", "192.0.2.2");
    assertEquals(16, options.port());
    assertEquals("rxe1", options.device());
    assertEquals(2, options.ibPort());
    assertEquals(8388608, options.size());
    assertEquals(PathMtu.MTU_4096, options.mtu());
    assertEquals(2, options.queuePairs());
    assertEquals(20, options.receiveDepth());
    assertEquals(4, options.iterations());
    assertEquals(3, options.serviceLevel());
    assertEquals(1, options.gidIndex());
    assertTrue(options.events() && options.checked());
    assertEquals("192.0.2.2", options.server());
    assertTrue(PingpongOptions.parse(Program.RC, "-N").newSend());
  }

  @Test
  void mistakesAreRefused() {
    for (String bad : List.of("-p 65536", "-i 0", "-m 1000", "-q 2", "a b", "-n", "-s x")) {
      assertThrows(UsageException.class, () -> PingpongOptions.parse(Program.RC, bad.split(" ")), bad);
    }
    assertThrows(UsageException.class, () -> PingpongOptions.parse(Program.UD, "-m", "1024"));
    assertThrows(UsageException.class, () -> PingpongOptions.parse(Program.UC, "-N"));
    assertThrows(UsageException.class, () -> PingpongOptions.parse(Program.SRQ, "-s", "0"));
  }

  @Test
  void whatDoesNotGoTogetherIsRefusedInTheOriginalsWords() throws Exception {
    assertRefused("prefetch is valid only with on-demand memory region", Program.RC, "-P");
    assertRefused("DM memory region can't be on demand", Program.RC, "-oj");
    assertRefused(
        "rx_depth 5 is too small for 16 QPs -- must have at least one receive per QP.", Program.SRQ, "-r", "5");
    assertRefused("num_qp 256 must be less than 255", Program.SRQ, "-q", "256");
  }

  @Test
  void whatNoDeviceCanDoIsRefusedInTheOriginalsWords() throws Exception {
    assertUnsupported(
        "The device isn't ODP capable or does not support RC send and receive with ODP", Program.RC, "-o");
    assertUnsupported(
        "The device isn't ODP capable or does not support RC send, receive and srq with ODP", Program.SRQ, "-o");
    assertUnsupported("The device isn't completion timestamp capable", Program.RC, "-t");
    assertUnsupported("Device doesn't support dm allocation", Program.RC, "-j");
  }

  @ParameterizedTest
  @EnumSource
  void theHelpIsTheOriginals(Program program) throws IOException {
    try (InputStream golden = getClass().getResourceAsStream("/usage/" + program.command() + ".txt")) {
      String expected = new String(golden.readAllBytes(), StandardCharsets.UTF_8);
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      ByteArrayOutputStream err = new ByteArrayOutputStream();
      assertEquals(0, run(program, out, err, "--help"));
      assertEquals(expected, out.toString(StandardCharsets.UTF_8));
      out.reset();
      assertEquals(1, run(program, out, err, "-x"));
      assertEquals("", out.toString(StandardCharsets.UTF_8));
      assertEquals(
          program.command() + ": invalid option -- 'x'\n" + expected, err.toString(StandardCharsets.UTF_8));
    }
  }

  @Test
  void withoutDevicesThereIsNoGame() {
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    assertEquals(1, run(Program.RC, new ByteArrayOutputStream(), err));
    assertEquals("No IB devices found\n", err.toString(StandardCharsets.UTF_8));
    err.reset();
    assertEquals(1, run(Program.RC, new ByteArrayOutputStream(), err, "-d", "rxe7"));
    assertEquals("IB device rxe7 not found\n", err.toString(StandardCharsets.UTF_8));
  }

  private static int run(
      Program program, ByteArrayOutputStream out, ByteArrayOutputStream err, String... arguments) {
    return Command.execute(
        new Pingpong(program, List.of()),
        new PrintStream(out, true, StandardCharsets.UTF_8),
        new PrintStream(err, true, StandardCharsets.UTF_8),
        arguments);
  }

  private static void assertRefused(String message, Program program, String... arguments) {
    assertEquals(
        message,
        assertThrows(CommandException.class, () -> PingpongOptions.parse(program, arguments)).getMessage());
  }

  private static void assertUnsupported(String message, Program program, String... arguments) throws Exception {
    PingpongOptions options = PingpongOptions.parse(program, arguments);
    assertEquals(message, assertThrows(CommandException.class, options::refuseUnsupported).getMessage());
  }
}
