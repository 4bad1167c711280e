package org.rdma4j.ulp.rping;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;

class PingDataTest {
  /** Lines that the original has printed. */
  @Test
  void pingsAreTheOriginals() {
    String circle = "ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz";
    assertEquals("rdma-ping-0: " + circle + "ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\", text(0, 100));
    assertEquals("rdma-ping-1: " + circle.substring(1) + "ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]", text(1, 100));
    assertEquals("rdma-ping-57: zABCDEFGHIJ", text(57, 26));
    assertEquals("rdma-ping-58: ABCDEFGHIJK", text(58, 26));
  }

  @Test
  void theZeroEndsIt() {
    MemorySegment buffer = Arena.ofAuto().allocate(64);
    PingData.fill(buffer, 3);
    assertEquals(64, PingData.length(buffer));
    buffer.set(ValueLayout.JAVA_BYTE, 9, (byte) 0);
    assertEquals(10, PingData.length(buffer));
    assertEquals("rdma-ping", PingData.text(buffer));
    buffer.fill((byte) 'x');
    assertEquals(64, PingData.length(buffer));
  }

  @Test
  void theMessageIsBigEndian() {
    MemorySegment message = Arena.ofAuto().allocate(RdmaInfo.LENGTH);
    RdmaInfo.write(message, 0x0102030405060708L, 0x090a0b0c, 0x0d0e0f10);
    for (int i = 0; i < RdmaInfo.LENGTH; i++) {
      assertEquals(i + 1, message.get(ValueLayout.JAVA_BYTE, i));
    }
    assertEquals(0x0102030405060708L, RdmaInfo.address(message));
    assertEquals(0x090a0b0c, RdmaInfo.rkey(message));
    assertEquals(0x0d0e0f10, RdmaInfo.length(message));
  }

  private static String text(int ping, int size) {
    MemorySegment buffer = Arena.ofAuto().allocate(size);
    PingData.fill(buffer, ping);
    return PingData.text(buffer);
  }
}
