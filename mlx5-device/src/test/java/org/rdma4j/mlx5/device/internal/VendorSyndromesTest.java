package org.rdma4j.mlx5.device.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.rdma4j.mlx5.ifc.VendorSyndromes;
import org.rdma4j.roce.engine.FailedCheck;

/** The vendor syndromes that drivers know are those that the card's engine gives. */
class VendorSyndromesTest {
  @Test
  void everyCheckHasItsText() {
    TreeMap<Integer, String> checks = new TreeMap<>();
    for (FailedCheck each : FailedCheck.values()) {
      if (each != FailedCheck.NONE) {
        checks.put(each.code(), each.text());
      }
    }
    assertEquals(checks, VendorSyndromes.texts());
  }
}
