package org.rdma4j.mlx5.ib;

import java.lang.foreign.MemorySegment;
import org.rdma4j.mlx5.core.BlueFlameRegister;
import org.rdma4j.mlx5.core.UarPage;

/**
 * The send doorbell of all queue pairs that got none of their own (kernel: {@code bfreg} of {@code struct mlx5_ib_dev};
 * libmlx5: the first register of a context). It is rung with eight bytes, which no other ringing can tear; whole
 * entries are not written to it, so it needs no lock.
 */
final class SharedDoorbell implements BlueFlameRegister {
  private final BlueFlameRegister register;

  SharedDoorbell(BlueFlameRegister register) {
    this.register = register;
  }

  @Override
  public UarPage page() {
    return register.page();
  }

  @Override
  public int size() {
    return 0;
  }

  @Override
  public void ring(long control) {
    register.ring(control);
  }

  @Override
  public void ring(MemorySegment queue, long offset, int length) {
    throw new UnsupportedOperationException("a shared register takes no entries");
  }

  /** It is the device's. */
  @Override
  public void close() {}
}
