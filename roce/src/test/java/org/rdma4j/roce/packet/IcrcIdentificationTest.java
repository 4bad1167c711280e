package org.rdma4j.roce.packet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.util.Random;
import org.junit.jupiter.api.Test;

class IcrcIdentificationTest {

  @Test
  void everyIdentificationIsFound() {
    byte[] packet = new byte[28];
    new Random(1).nextBytes(packet);
    IcrcCalculator calculator = new IcrcCalculator(MemorySegment.ofArray(packet));
    int zero = icrc(calculator, 0, packet.length);
    for (int identification = 0; identification < 0x10000; identification++) {
      int difference = icrc(calculator, identification, packet.length) ^ zero;
      assertEquals(identification, IcrcIdentification.recover(difference, packet.length));
    }
  }

  @Test
  void everyLengthWorks() {
    byte[] packet = new byte[65500];
    long seed = System.nanoTime();
    Random random = new Random(seed);
    random.nextBytes(packet);
    IcrcCalculator calculator = new IcrcCalculator(MemorySegment.ofArray(packet));
    for (int length = 12; length <= packet.length; length += length < 4300 ? 4 : 4 * random.nextInt(1, 200)) {
      int identification = random.nextInt(0x10000);
      int difference = icrc(calculator, identification, length) ^ icrc(calculator, 0, length);
      assertEquals(identification, IcrcIdentification.recover(difference, length), "seed " + seed);
    }
  }

  @Test
  void damageIsFoundButForOneIn65536() {
    Random random = new Random(20260101);
    int accepted = 0;
    for (int i = 0; i < 1_000_000; i++) {
      accepted += IcrcIdentification.recover(random.nextInt(), 12 + 4 * random.nextInt(1000)) >= 0 ? 1 : 0;
    }
    assertTrue(accepted < 40, accepted + " of a million random differences were taken for good, 15 are expected");
  }

  @Test
  void lengthsThatNoPacketHasAreRefused() {
    for (int length : new int[] {-4, 13, 14, 15, 65504, 1 << 20}) {
      assertEquals(-1, IcrcIdentification.recover(0, length));
    }
  }

  private static int icrc(IcrcCalculator calculator, int identification, int length) {
    return calculator.ipv4(0xc0000202, 0xc0000203, identification, 0x4000, 0xc123, 4791, 0, length);
  }
}
