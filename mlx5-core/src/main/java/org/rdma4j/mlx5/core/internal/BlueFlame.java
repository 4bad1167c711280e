package org.rdma4j.mlx5.core.internal;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicBoolean;
import org.rdma4j.mlx5.core.BlueFlameRegister;
import org.rdma4j.mlx5.core.UarPage;

/** A send doorbell in a doorbell page: two halves, used alternately. */
final class BlueFlame implements BlueFlameRegister {
  private final Uar uar;
  private final int offset;
  private final int half;
  private final Runnable release;
  private final AtomicBoolean closed = new AtomicBoolean();
  private int toggle;

  BlueFlame(Uar uar, int offset, int half, Runnable release) {
    this.uar = uar;
    this.offset = offset;
    this.half = half;
    this.release = release;
  }

  @Override
  public UarPage page() {
    return uar;
  }

  @Override
  public int size() {
    return half;
  }

  @Override
  public void ring(long control) {
    uar.ring(offset + toggle, control);
    toggle ^= half;
  }

  @Override
  public void ring(MemorySegment queue, long from, int length) {
    uar.write(offset + toggle, queue, from, length);
    toggle ^= half;
  }

  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      release.run();
    }
  }
}
