package org.rdma4j.ulp.pingpong.pv;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.rdma4j.ib.core.verbs.QpType;

class PvOptionsTest {
  @Test
  void defaultsAreThoseOfTheProgramOnLinux() {
    PvOptions options = PvOptions.parse(List.of("client", "write"));
    assertFalse(options.server());
    assertEquals("write", options.scenario());
    assertEquals(18600, options.port());
    assertEquals(List.of(1024), options.sizes());
    assertEquals(1, options.gidIndex());
  }

  @Test
  void optionsMayStandAnywhere() {
    PvOptions options =
        PvOptions.parse(List.of("server", "--burst", "--sizes", "0,1,3001", "read", "--mtu", "256", "--sge", "3"));
    assertTrue(options.server());
    assertTrue(options.burst());
    assertEquals(List.of(0, 1, 3001), options.sizes());
    assertEquals(256, options.mtu());
    assertEquals(3, options.entries());
  }

  @Test
  void whatIsNotUnderstoodIsRefused() {
    assertThrows(ScenarioFailed.class, () -> PvOptions.parse(List.of("server")));
    assertThrows(ScenarioFailed.class, () -> PvOptions.parse(List.of("both", "send")));
    assertThrows(ScenarioFailed.class, () -> PvOptions.parse(List.of("client", "send", "--sizes")));
    assertThrows(ScenarioFailed.class, () -> PvOptions.parse(List.of("client", "send", "--mtu", "much")));
  }

  @Test
  void scenarioNamesTheTransport() {
    assertEquals(QpType.UC, Endpoint.typeOf("uc-write"));
    assertEquals(QpType.UD, Endpoint.typeOf("ud-send"));
    assertEquals(QpType.RC, Endpoint.typeOf("send-inv"));
    assertEquals("write", PvCommand.operation("uc-write"));
  }
}
