package org.rdma4j.mlx5.device.internal;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.rdma4j.pci.DmaFault;
import org.rdma4j.pci.PciHost;
import org.rdma4j.roce.engine.ReceiveSource;
import org.rdma4j.roce.engine.ReceiveWork;

/** The receive queue of one queue pair: entries of a fixed stride in a ring. Engine thread. */
final class OwnReceives implements ReceiveSource {
  private static final int COUNT_MASK = 0xffff;

  private final PciHost host;
  private final PageList buffer;
  private final DoorbellRecord record;
  private final int count;
  private final int stride;
  private final Runnable broken;
  private final MemorySegment entry;
  private boolean open;
  private int posted;
  private int taken;
  private long starved;

  /** The ring begins with the buffer; {@code broken} is told when it cannot be read. */
  OwnReceives(PciHost host, PageList buffer, DoorbellRecord record, int count, int stride, Runnable broken) {
    this.host = host;
    this.buffer = buffer;
    this.record = record;
    this.count = count;
    this.stride = stride;
    this.broken = broken;
    this.entry = Arena.ofAuto().allocate(Math.max(1, stride), Long.BYTES);
  }

  /** Begins anew, from the first entry on. */
  void open() {
    posted = 0;
    taken = 0;
    open = count > 0;
  }

  void close() {
    open = false;
  }

  int taken() {
    return taken & COUNT_MASK;
  }

  int posted() {
    return posted;
  }

  /** How often there was no receive. */
  long starved() {
    return starved;
  }

  @Override
  public boolean take(ReceiveWork work) {
    if (!open) {
      return false;
    }
    try {
      if ((posted - taken & COUNT_MASK) == 0) {
        posted = record.read(DoorbellRecord.RECEIVE);
        if ((posted - taken & COUNT_MASK) == 0) {
          starved++;
          return false;
        }
      }
      if ((posted - taken & COUNT_MASK) > count) {
        fail();
        return false;
      }
      buffer.read(host, (long) (taken & count - 1) * stride, entry, 0, stride);
    } catch (DmaFault e) {
      fail();
      return false;
    }
    work.id = taken & COUNT_MASK;
    ReceiveReader.read(entry, 0, stride, work);
    taken++;
    return true;
  }

  private void fail() {
    open = false;
    broken.run();
  }

  @Override
  public boolean isShared() {
    return false;
  }
}
