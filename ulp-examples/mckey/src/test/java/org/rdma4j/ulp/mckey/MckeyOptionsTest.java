package org.rdma4j.ulp.mckey;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.rdma4j.ulp.command.UsageException;

class MckeyOptionsTest {
  @Test
  void defaultsAreTheOriginals() throws Exception {
    assertEquals(
        new MckeyOptions("239.192.0.1", false, false, null, 1, 10, 100, 0x111, false, true),
        MckeyOptions.parse("-m", "239.192.0.1"));
  }

  @Test
  void allThatCanBeSet() throws Exception {
    assertEquals(
        new MckeyOptions("ff0e::1234", true, true, "192.0.2.3", 2, 5, 64, 2, true, false),
        MckeyOptions.parse(
            "-M", "ff0e::1234", "-sol", "-b", "192.0.2.3", "-c", "2", "-C", "5", "-S", "64", "-p", "0x2"));
  }

  @Test
  void mistakesAreRefused() {
    for (String bad : List.of("-s", "-x", "-m 239.192.0.1 -c many", "-m", "-m 239.192.0.1 operand")) {
      assertThrows(UsageException.class, () -> MckeyOptions.parse(bad.split(" ")), bad);
    }
  }
}
