package org.rdma4j.rxe;

import java.security.SecureRandom;
import org.rdma4j.ib.core.verbs.Rkeys;
import org.rdma4j.roce.engine.KeyTable;
import org.rdma4j.roce.engine.RegisteredMemory;

/**
 * Memory keys: the object's number in the upper 24 bits and a random byte below it, so that a key of an earlier object
 * with the same number is not taken for the new one's (kernel: {@code rxe_mr.c}, {@code rxe_mw.c}). Regions have the
 * lower numbers, windows the upper ones.
 */
final class RxeKeyTable implements KeyTable {
  private static final int KEY_BITS = 8;

  private final SecureRandom random = new SecureRandom();
  private final NumberPool regions = new NumberPool("max_mr", 1, Limits.MAX_MR);
  private final NumberPool windows = new NumberPool("max_mw", Limits.FIRST_MW, Limits.LAST_MW);
  private final PagedTable<KeyedMemory> memory = new PagedTable<>(Limits.LAST_INDEX + 1);

  /** A new key for a region, to be given back with {@link #release}. */
  int newRegionKey() {
    return newKey(regions);
  }

  /** A new key for a window, to be given back with {@link #release}. */
  int newWindowKey() {
    return newKey(windows);
  }

  private int newKey(NumberPool numbers) {
    return numbers.take() << KEY_BITS | random.nextInt(1 << KEY_BITS);
  }

  /** Another key of the same object. */
  int another(int key) {
    return Rkeys.withTag(key, key + 1 + random.nextInt((1 << KEY_BITS) - 1));
  }

  void put(int key, KeyedMemory target) {
    memory.put(key >>> KEY_BITS, target);
  }

  /** The key stands for nothing any more and its number is free. */
  void release(int key) {
    int number = key >>> KEY_BITS;
    memory.put(number, null);
    (number < Limits.FIRST_MW ? regions : windows).give(number);
  }

  /** Regions and windows there are. */
  int count() {
    return regions.count() + windows.count();
  }

  /** What a key may stand for, or null; the caller compares the whole key. */
  KeyedMemory get(int key) {
    return memory.get(key >>> KEY_BITS);
  }

  /** The region whose key this may be, or null. */
  RegionMemory region(int key) {
    return get(key) instanceof RegionMemory region ? region : null;
  }

  /** The window whose key this may be, or null. */
  WindowMemory window(int key) {
    return get(key) instanceof WindowMemory window ? window : null;
  }

  @Override
  public RegisteredMemory find(int key) {
    return get(key);
  }
}
