package org.rdma4j.mlx5.ib;

/** Powers of two. */
final class Sizes {
  private Sizes() {}

  /** The next power of two that is not smaller. */
  static int roundUp(int value) {
    return value <= 1 ? 1 : Integer.highestOneBit(value - 1) << 1;
  }

  /** The logarithm of a power of two. */
  static int log(int power) {
    return Integer.numberOfTrailingZeros(power);
  }
}
