package org.rdma4j.ulp.pingpong;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;

class PayloadTest {
  @Test
  void onlyAMarkedMessageIsRight() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment message = arena.allocate(3 * 4096 + 100).fill((byte) 0x7b);
      assertEquals(0, Payload.findWrong(message, (byte) 0x7b, 0));
      Payload.mark(message);
      assertEquals(-1, Payload.findWrong(message, (byte) 0x7b, 0));
      message.set(ValueLayout.JAVA_BYTE, 4096 + 17, (byte) 1);
      message.set(ValueLayout.JAVA_BYTE, 3 * 4096 + 99, (byte) 0);
      assertEquals(1, Payload.findWrong(message, (byte) 0x7b, 0));
      assertEquals(3, Payload.findWrong(message, (byte) 0x7b, 2));
    }
  }

  @Test
  void anEmptyMessageIsRight() {
    Payload.mark(MemorySegment.NULL);
    assertEquals(-1, Payload.findWrong(MemorySegment.NULL, (byte) 0, 0));
  }
}
