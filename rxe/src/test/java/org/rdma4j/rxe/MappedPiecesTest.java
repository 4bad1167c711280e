package org.rdma4j.rxe;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.rdma4j.ib.core.verbs.MrMapping;

class MappedPiecesTest {
  private static final long IOVA = 0x7000_0000_1234L;

  private static MappedPieces of(int... lengths) {
    List<MemorySegment> pieces = new ArrayList<>();
    for (int length : lengths) {
      pieces.add(Arena.ofAuto().allocate(length));
    }
    return new MappedPieces(new MrMapping(pieces, IOVA, Arrays.stream(lengths).sum(), 4096));
  }

  @Test
  void copiesAreThoseOfOneArray() {
    int[] lengths = {5, 4096, 1, 8192, 100};
    MappedPieces pieces = of(lengths);
    byte[] flat = new byte[Arrays.stream(lengths).sum()];
    assertEquals(flat.length, pieces.length());
    Random random = new Random(7);
    for (int round = 0; round < 2_000; round++) {
      int from = random.nextInt(flat.length);
      int count = random.nextInt(flat.length - from + 1);
      byte[] bytes = new byte[count];
      random.nextBytes(bytes);
      pieces.copy(IOVA + from, MemorySegment.ofArray(bytes), 0, count, false);
      System.arraycopy(bytes, 0, flat, from, count);
      int to = random.nextInt(flat.length);
      int read = random.nextInt(flat.length - to + 1);
      byte[] found = new byte[read + 3];
      pieces.copy(IOVA + to, MemorySegment.ofArray(found), 3, read, true);
      assertArrayEquals(Arrays.copyOfRange(flat, to, to + read), Arrays.copyOfRange(found, 3, read + 3));
    }
  }

  @Test
  void bytesOfOnePieceAreFoundThere() {
    MemorySegment first = Arena.ofAuto().allocate(16);
    MemorySegment second = Arena.ofAuto().allocate(16);
    MappedPieces pieces = new MappedPieces(new MrMapping(List.of(first, second), IOVA, 32, 4096));
    assertSame(first, pieces.pieceOf(IOVA + 8, 8));
    assertNull(pieces.pieceOf(IOVA + 9, 8));
    assertSame(second, pieces.pieceOf(IOVA + 16, 8));
    assertEquals(8, pieces.within(IOVA + 8));
    assertEquals(1, pieces.within(IOVA + 17));
    second.set(ValueLayout.JAVA_BYTE, 0, (byte) 1);
  }
}
