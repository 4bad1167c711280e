package org.rdma4j.ulp.udaddy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.rdma4j.ulp.command.UsageException;

class UdaddyOptionsTest {
  @Test
  void defaultsAreTheOriginals() throws Exception {
    assertEquals(
        new UdaddyOptions(null, null, UdaddyOptions.Format.NAME, 0x111, 1, 10, 100, -1, List.of()),
        UdaddyOptions.parse());
  }

  @Test
  void allThatCanBeSet() throws Exception {
    assertEquals(
        new UdaddyOptions("h", "b", UdaddyOptions.Format.NUMBER, 2, 2, 3, 1000, 8, List.of()),
        UdaddyOptions.parse(
            "-s", "h", "-bb", "-f", "ip", "-P", "IPoIB", "-c", "2", "-C", "3", "-S", "1000", "-t", "010"));
    assertEquals(0x106, UdaddyOptions.parse("-p", "0x106").portSpace());
  }

  @Test
  void unknownWordsAreWarnedOf() throws Exception {
    assertEquals(
        List.of("Warning: unknown address format", "Warning: unknown port space format"),
        UdaddyOptions.parse("-f", "mac", "-P", "tcp").warnings());
  }

  @Test
  void mistakesAreRefused() {
    for (String bad : List.of("-x", "-c", "-c many", "-t 256", "operand", "-m")) {
      assertThrows(UsageException.class, () -> UdaddyOptions.parse(bad.split(" ")), bad);
    }
  }
}
