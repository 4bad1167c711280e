package org.rdma4j.ib.core.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;

class PkeyCacheTest {
  private final PkeyCache cache = new PkeyCache("fake0/1", new int[] {0x7fff, 0xffff, 0x1234});

  @Test
  void prefersFullMembers() {
    assertEquals(1, cache.find(0x7fff));
    assertEquals(1, cache.find(0xffff));
    assertEquals(2, cache.find(0x9234));
    assertEquals(-1, cache.find(0x1235));
  }

  @Test
  void knowsItsLength() {
    assertEquals(0x1234, cache.get(2));
    assertEquals(Errno.EINVAL, assertThrows(VerbsException.class, () -> cache.get(3)).errno());
    assertEquals(Errno.EINVAL, assertThrows(VerbsException.class, () -> cache.get(-1)).errno());
  }
}
