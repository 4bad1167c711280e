package org.rdma4j.pci.internal;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicBoolean;
import org.rdma4j.pci.DmaDirection;
import org.rdma4j.pci.DmaMapping;

/** A mapping in a {@link DmaSpace}. */
final class Range implements DmaMapping {
  /** What {@link #first} is when the pages belong to another mapping. */
  static final long PART = -1;

  private final DmaSpace space;
  private final long first;
  private final long address;
  private final MemorySegment segment;
  private final DmaDirection direction;
  private final Arena arena;
  private final AtomicBoolean closed = new AtomicBoolean();

  Range(DmaSpace space, long first, long address, MemorySegment segment, DmaDirection direction, Arena arena) {
    this.space = space;
    this.first = first;
    this.address = address;
    this.segment = segment;
    this.direction = direction;
    this.arena = arena;
  }

  /** First address of the pages it takes, or {@link #PART}. */
  long first() {
    return first;
  }

  @Override
  public long address() {
    return address;
  }

  @Override
  public MemorySegment segment() {
    return segment;
  }

  @Override
  public DmaDirection direction() {
    return direction;
  }

  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      space.remove(this);
      if (arena != null) {
        arena.close();
      }
    }
  }

  @Override
  public String toString() {
    return "0x%x+%d (%s%s)".formatted(address, length(), direction, arena == null ? "" : ", allocated");
  }
}
