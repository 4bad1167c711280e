package org.rdma4j.ulp.demo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.BindException;
import java.net.DatagramSocket;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.rdma4j.roce.address.Gid;

class DemoPartsTest {
  @Test
  void everyWrongByteAndEveryMixUpShows() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment message = arena.allocate(Connection.MESSAGE);
      for (long seed : new long[] {0, 1, 17, 1L << 40}) {
        Pattern.fill(message, seed);
        assertTrue(Pattern.matches(message, seed));
        assertFalse(Pattern.matches(message, seed + 1));
        for (long i = 0; i < message.byteSize(); i += 97) {
          byte right = message.get(ValueLayout.JAVA_BYTE, i);
          message.set(ValueLayout.JAVA_BYTE, i, (byte) (right ^ 4));
          assertFalse(Pattern.matches(message, seed));
          message.set(ValueLayout.JAVA_BYTE, i, right);
        }
      }
    }
  }

  @Test
  void checksCompareAndName() {
    Checks checks = new Checks();
    checks.expect("a", 0, 0);
    checks.expect("b", 0L, 1L);
    checks.expect("c", null, "trouble");
    checks.expectAtLeast("d", 2, 1);
    checks.expectAtLeast("e", 2, 2);
    assertEquals(5, checks.made());
    assertEquals(
        List.of("b: expected 0, saw 1", "c: expected null, saw trouble", "d: expected 2 or more, saw 1"),
        checks.broken());
  }

  @Test
  void numbersAreAlignedToTheRight() {
    Table table = new Table("queue", "posted");
    table.add("SEND", 1234567);
    table.add("a longer one", 1L);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    table.print(new PrintStream(out, true, StandardCharsets.UTF_8));
    assertEquals(
        """
           queue             posted
           SEND           1,234,567
           a longer one           1
        """,
        out.toString(StandardCharsets.UTF_8));
  }

  @Test
  void socketsOnTheRocePortAreFound() throws IOException {
    List<Gid> addresses = List.of(Gid.parse("::ffff:127.93.7.1"));
    int before = Provider.sockets(addresses);
    assumeTrue(before >= 0, "a system without /proc");
    try (DatagramSocket socket = new DatagramSocket(null)) {
      try {
        socket.bind(new InetSocketAddress("127.93.7.1", 4791));
      } catch (BindException e) {
        assumeTrue(false, "the port is taken on all addresses");
      }
      assertEquals(before + 1, Provider.sockets(addresses));
      assertEquals(0, Provider.sockets(List.of(Gid.parse("::ffff:127.93.7.2"))));
    }
    assertEquals(before, Provider.sockets(addresses));
  }
}
