package org.rdma4j.roce.packet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import org.junit.jupiter.api.Test;

/** Sequence numbers, syndromes, timer codes and UDP ports. */
class NumbersTest {

  @Test
  void psnsGoAround() {
    assertEquals(0, Psn.add(0xffffff, 1));
    assertEquals(0xffffff, Psn.add(0, -1));
    assertEquals(0x10, Psn.distance(0xfffff8, 8));
    assertEquals(0, Psn.distance(5, 5));
    assertTrue(Psn.compare(0, 0xffffff) > 0);
    assertTrue(Psn.compare(0xffffff, 0) < 0);
    assertEquals(0, Psn.compare(0x1000005, 5));
    assertEquals(0x7fffff, Psn.compare(0x7fffff, 0));
    assertEquals(-0x800000, Psn.compare(0x800000, 0));
  }

  @Test
  void psnArithmeticHolds() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    for (int i = 0; i < 10_000; i++) {
      int psn = random.nextInt(1 << 24);
      int packets = random.nextInt(-(1 << 23), 1 << 23);
      int other = Psn.add(psn, packets);
      assertEquals(packets, Psn.compare(other, psn), "seed " + seed);
      assertEquals(packets & Psn.MASK, Psn.distance(psn, other), "seed " + seed);
    }
  }

  @Test
  void syndromesAreNamed() {
    assertEquals("ACK", Syndrome.describe(Syndrome.ACK_NO_CREDIT_LIMIT));
    assertEquals("ACK (credits 3)", Syndrome.describe(3));
    assertEquals("RNR NAK (timer 12)", Syndrome.describe(Syndrome.RNR | 12));
    assertEquals("NAK PSN sequence error", Syndrome.describe(Syndrome.NAK_SEQUENCE));
    assertEquals("NAK invalid request", Syndrome.describe(Syndrome.NAK_INVALID_REQUEST));
    assertEquals("NAK remote access error", Syndrome.describe(Syndrome.NAK_REMOTE_ACCESS));
    assertEquals("NAK remote operational error", Syndrome.describe(Syndrome.NAK_REMOTE_OPERATIONAL));
    assertEquals("NAK invalid RD request", Syndrome.describe(Syndrome.NAK_INVALID_RD));
    assertEquals("NAK code 7", Syndrome.describe(0x67));
    assertEquals("reserved syndrome 0x41", Syndrome.describe(0x41));
    assertEquals("reserved syndrome 0x9f", Syndrome.describe(0x9f));
    assertEquals(Syndrome.TYPE_RNR_NAK, Syndrome.type(0x2c));
    assertEquals(12, Syndrome.value(0x2c));
  }

  @Test
  void rnrTimesAreThoseOfTheSpecification() {
    assertEquals(655_360_000, RnrTimer.nanos(0));
    assertEquals(10_000, RnrTimer.nanos(1));
    assertEquals(640_000, RnrTimer.nanos(12));
    assertEquals(61_440_000, RnrTimer.nanos(25));
    assertEquals(491_520_000, RnrTimer.nanos(31));
    assertEquals(RnrTimer.nanos(12), RnrTimer.nanos(Syndrome.RNR | 12));
    for (int code = 1; code < 31; code++) {
      assertTrue(RnrTimer.nanos(code) < RnrTimer.nanos(code + 1));
    }
  }

  @Test
  void codeForIsTheShortestLongEnough() {
    for (int code = 0; code < 32; code++) {
      assertEquals(code, RnrTimer.codeFor(RnrTimer.nanos(code)));
    }
    assertEquals(1, RnrTimer.codeFor(0));
    assertEquals(2, RnrTimer.codeFor(10_001));
    assertEquals(0, RnrTimer.codeFor(491_520_001));
    assertEquals(0, RnrTimer.codeFor(Long.MAX_VALUE));
  }

  /** Ports seen in the golden captures: flow labels of rping, queue pair 1, and two connected queue pairs. */
  @Test
  void sourcePortsAreThoseOfRxe() {
    assertEquals(63501, UdpPorts.ofFlowLabel(0xab827));
    assertEquals(55410, UdpPorts.ofQueuePair(1));
    assertEquals(UdpPorts.ofConnection(0, 0x11, 0x12), UdpPorts.ofConnection(0, 0x12, 0x11));
    assertEquals(0x132, UdpPorts.flowLabel(0x11, 0x12));
    assertEquals(0xc132, UdpPorts.ofConnection(0, 0x11, 0x12));
    assertEquals(63501, UdpPorts.ofConnection(0xab827, 0x11, 0x12));
    Random random = new Random(7);
    for (int i = 0; i < 1000; i++) {
      int port = UdpPorts.ofConnection(0, random.nextInt(1 << 24), random.nextInt(1 << 24));
      assertTrue(port >= 0xc000 && port <= 0xffff);
      port = UdpPorts.ofQueuePair(random.nextInt(1 << 24));
      assertTrue(port >= 0xc000 && port <= 0xffff);
    }
  }
}
