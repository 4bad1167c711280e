package org.rdma4j.ulp.ucmatose;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.rdma4j.ulp.command.UsageException;

class UcmatoseOptionsTest {
  @Test
  void defaultsAreTheOriginals() throws Exception {
    assertEquals(
        new UcmatoseOptions(
            null, null, UcmatoseOptions.Format.NAME, false, 1, 10, 100, -1, 7471, false, -1, List.of()),
        UcmatoseOptions.parse());
  }

  @Test
  void allThatCanBeSet() throws Exception {
    assertEquals(
        new UcmatoseOptions(
            "192.0.2.2", "192.0.2.3", UcmatoseOptions.Format.NUMBER, true, 2, 3, 1000, 0x20, 7999, true, 14,
            List.of()),
        UcmatoseOptions.parse(
            "-s", "192.0.2.2", "-b192.0.2.3", "-f", "IPv6", "-P", "ib", "-c2", "-C", "3", "-S", "1000", "-t", "0x20",
            "-p", "7999", "-m", "-a", "14"));
    assertEquals(UcmatoseOptions.Format.GID, UcmatoseOptions.parse("-f", "gid").addresses());
  }

  @Test
  void withoutBytesThereAreNoMessages() throws Exception {
    assertEquals(0, UcmatoseOptions.parse("-S", "0").messages());
  }

  @Test
  void unknownWordsAreWarnedOf() throws Exception {
    assertEquals(
        List.of("Warning: unknown address format", "Warning: unknown port space format"),
        UcmatoseOptions.parse("-f", "mac", "-P", "sctp").warnings());
  }

  @Test
  void mistakesAreRefused() {
    for (String bad : List.of("-x", "-c", "-c many", "-p 65536", "-t 256", "-a -1", "operand")) {
      assertThrows(UsageException.class, () -> UcmatoseOptions.parse(bad.split(" ")), bad);
    }
  }
}
