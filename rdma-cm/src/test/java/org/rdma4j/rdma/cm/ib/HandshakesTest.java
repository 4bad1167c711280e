package org.rdma4j.rdma.cm.ib;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Thousands of handshakes over a bad network: both ends agree, and nothing is left. */
class HandshakesTest {
  private static final int SEEDS = 10_000;

  @Test
  void bothEndsAgreeAndNothingIsLeft() {
    long connected = 0;
    long refused = 0;
    for (long seed = 0; seed < SEEDS; seed++) {
      Handshakes handshakes = new Handshakes(seed);
      assertEquals(List.of(), handshakes.play(), "seed " + seed);
      connected += handshakes.connected();
      refused += handshakes.refused();
    }
    assertTrue(connected > SEEDS, connected + " connections");
    assertTrue(refused > SEEDS / 20, refused + " refusals");
  }
}
