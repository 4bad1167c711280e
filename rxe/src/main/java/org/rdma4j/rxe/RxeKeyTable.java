package org.rdma4j.rxe;

import java.security.SecureRandom;
import org.rdma4j.roce.engine.KeyTable;
import org.rdma4j.roce.engine.RegisteredMemory;

/**
 * Memory keys: the object's number in the upper 24 bits and a random byte below it, so that a key of an earlier
 * region with the same number is not taken for the new one's (kernel: {@code rxe_mr.c}).
 */
final class RxeKeyTable implements KeyTable {
  private static final int KEY_BITS = 8;

  private final SecureRandom random = new SecureRandom();
  private final NumberPool regions = new NumberPool("max_mr", 1, Limits.MAX_MR);
  private final PagedTable<RegisteredMemory> memory = new PagedTable<>(Limits.LAST_INDEX + 1);

  /** A new key for a region, to be given back with {@link #release}. */
  int newRegionKey() {
    return regions.take() << KEY_BITS | random.nextInt(1 << KEY_BITS);
  }

  void put(int key, RegisteredMemory target) {
    memory.put(key >>> KEY_BITS, target);
  }

  /** The key stands for nothing any more and its number is free. */
  void release(int key) {
    memory.put(key >>> KEY_BITS, null);
    regions.give(key >>> KEY_BITS);
  }

  int count() {
    return regions.count();
  }

  @Override
  public RegisteredMemory find(int key) {
    return memory.get(key >>> KEY_BITS);
  }
}
