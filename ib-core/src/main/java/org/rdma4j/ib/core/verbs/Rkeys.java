package org.rdma4j.ib.core.verbs;

/**
 * Keys of memory whose owner chooses part of them: the upper 24 bits name the region or window, the lower 8 bits are
 * the owner's.
 */
public final class Rkeys {
  private static final int TAG = 0xff;

  private Rkeys() {}

  /**
   * Counts the owner's bits up by one, from 255 on to 0 ({@code ibv_inc_rkey}, {@code ib_inc_rkey}).
   *
   * @param key the key
   * @return the next key of the same region or window
   */
  public static int increment(int key) {
    return withTag(key, key + 1);
  }

  /**
   * Replaces the owner's bits.
   *
   * @param key the key
   * @param tag the new bits; only the lower 8 count
   * @return the key of the same region or window with these bits
   */
  public static int withTag(int key, int tag) {
    return (key & ~TAG) | (tag & TAG);
  }
}
