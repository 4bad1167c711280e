package org.rdma4j.mlx5.core.internal;

import java.lang.foreign.MemorySegment;
import org.rdma4j.mlx5.core.UarPage;
import org.rdma4j.pci.Bar;

/** A doorbell page in the card's region (kernel: {@code uar.c}). */
final class Uar implements UarPage {
  static final int PAGE = 4096;
  private static final int CQ_DOORBELL = 0x20;
  private static final int EQ_ARM = 0x40;
  private static final int EQ_UPDATE = 0x48;
  private static final int NUMBER_SHIFT = 24;

  private final Bar bar;
  private final int index;
  private final long base;

  Uar(Bar bar, int index) {
    this.bar = bar;
    this.index = index;
    this.base = (long) index * PAGE;
  }

  @Override
  public int index() {
    return index;
  }

  @Override
  public void armCompletionQueue(int command, int cqn) {
    bar.writeBigEndian(base + CQ_DOORBELL, (long) command << Integer.SIZE | cqn & 0xffff_ffffL);
  }

  @Override
  public void updateEventQueue(int eqn, int consumerIndex, boolean arm) {
    bar.writeBigEndian(base + (arm ? EQ_ARM : EQ_UPDATE), eqn << NUMBER_SHIFT | consumerIndex);
  }

  void ring(int offset, long control) {
    bar.writeBigEndian(base + offset, control);
  }

  void write(int offset, MemorySegment source, long from, int length) {
    bar.write(base + offset, source, from, length);
  }
}
