package org.rdma4j.ulp.cmtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.rdma4j.ulp.command.UsageException;

class CmtimeOptionsTest {
  @Test
  void defaultsAreTheOriginals() throws Exception {
    assertEquals(new CmtimeOptions(null, null, 100, 7471, 2, 2000), CmtimeOptions.parse());
  }

  @Test
  void allThatCanBeSet() throws Exception {
    assertEquals(
        new CmtimeOptions("192.0.2.2", "192.0.2.3", 10, 7999, 0, 500),
        CmtimeOptions.parse(
            "-s", "192.0.2.2", "-b", "192.0.2.3", "-c10", "-p", "7999", "-r", "0", "-t", "500"));
  }

  @Test
  void mistakesAreRefused() {
    for (String bad : List.of("-x", "-c", "-c many", "-p 65536", "-r -1", "operand")) {
      assertThrows(UsageException.class, () -> CmtimeOptions.parse(bad.split(" ")), bad);
    }
  }
}
