package org.rdma4j.rdma.cm.ib;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.rdma4j.ib.core.mad.MadField;
import org.rdma4j.ib.core.mad.MadHeader;
import org.rdma4j.rdma.cm.message.CmAttribute;

/** Messages of random bytes, with more or less right numbers, in all states: nothing fails, and nothing is left. */
class NonsenseTest {
  private static final int SEEDS = 3_000;
  private static final int MESSAGES = 30;
  private static final MadField FIRST = new MadField("local comm id or request id", MadHeader.BYTES, 0, 32);
  private static final MadField SECOND = new MadField("remote comm id", MadHeader.BYTES + 4, 0, 32);
  private static final MadField SERVICE = new MadField("service id", MadHeader.BYTES + 8, 0, 64);

  @Test
  void nothingFails() {
    for (int seed = 0; seed < SEEDS; seed++) {
      try {
        run(new Random(seed));
      } catch (RuntimeException | AssertionError e) {
        throw new AssertionError("seed " + seed, e);
      }
    }
  }

  private static void run(Random random) {
    Ends ends = new Ends();
    CmId id = ends.in(CmState.values()[random.nextInt(CmState.values().length)]);
    ends.pair.network((from, mad, to) -> {});
    CmAddress from = new CmAddress(Pair.A, Pair.B, 0xffff, 0, 0, 64, 0);
    for (int i = 0; i < MESSAGES; i++) {
      ends.manager(id).receive(id.port(), new ReceivedCm(message(random, id), from));
      ends.pair.time.runUntil(ends.pair.time.now() + random.nextInt(100));
    }
    assertTrue(ends.told.size() <= 2 * MESSAGES + CmState.values().length);
    ends.close();
  }

  private static MemorySegment message(Random random, CmId id) {
    byte[] bytes = new byte[MadHeader.MAD_BYTES];
    random.nextBytes(bytes);
    MemorySegment mad = MemorySegment.ofArray(bytes);
    CmAttribute kind = CmAttribute.values()[random.nextInt(CmAttribute.values().length)];
    MadHeader.ATTRIBUTE_ID.set(mad, random.nextInt(20) == 0 ? random.nextInt(1 << 16) : kind.id());
    switch (random.nextInt(3)) {
      case 0 -> SECOND.setInt(mad, id.localId());
      case 1 -> {
        FIRST.setInt(mad, id.connection.remoteId);
        SECOND.setInt(mad, id.localId());
      }
      default -> {
        if (kind == CmAttribute.REQ || kind == CmAttribute.SIDR_REQ) {
          SERVICE.set(mad, Pair.SERVICE);
        }
      }
    }
    return mad;
  }
}
