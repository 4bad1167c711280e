package org.rdma4j.mlx5.core.internal;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import org.rdma4j.pci.DmaMapping;
import org.rdma4j.pci.PciDevice;

/** Pages of 4 KiB for the firmware, cut from larger mappings, which go when all of their pages are back. */
final class HostPagePool {
  static final int PAGE = 4096;
  private static final int CHUNK = 64;

  private static final class Chunk {
    private final DmaMapping memory;
    private long used;

    private Chunk(DmaMapping memory) {
      this.memory = memory;
    }
  }

  private final PciDevice pci;
  private final TreeMap<Long, Chunk> chunks = new TreeMap<>(); // by first address; guarded by this
  private int taken; // guarded by this

  HostPagePool(PciDevice pci) {
    this.pci = pci;
  }

  /** {@return pages that are out} */
  synchronized int taken() {
    return taken;
  }

  /** Takes pages; they are zero where they are new. */
  synchronized long[] take(int count) {
    long[] pages = new long[count];
    int done = 0;
    try {
      for (; done < count; done++) {
        pages[done] = takeOne();
      }
    } finally {
      if (done < count) {
        for (int i = 0; i < done; i++) {
          give(pages[i]);
        }
      }
    }
    return pages;
  }

  private long takeOne() {
    for (Chunk chunk : chunks.values()) {
      if (chunk.used != -1) {
        return mark(chunk);
      }
    }
    Chunk fresh = new Chunk(pci.allocate((long) CHUNK * PAGE));
    chunks.put(fresh.memory.address(), fresh);
    return mark(fresh);
  }

  private long mark(Chunk chunk) {
    int index = Long.numberOfTrailingZeros(~chunk.used);
    chunk.used |= 1L << index;
    taken++;
    return chunk.memory.address() + (long) index * PAGE;
  }

  /** Gives a page back; false when it is not one that is out. */
  synchronized boolean give(long address) {
    var entry = chunks.floorEntry(address);
    if (entry == null || address % PAGE != 0) {
      return false;
    }
    Chunk chunk = entry.getValue();
    long index = (address - chunk.memory.address()) / PAGE;
    if (index >= CHUNK || (chunk.used & 1L << index) == 0) {
      return false;
    }
    chunk.used &= ~(1L << index);
    taken--;
    if (chunk.used == 0) {
      chunks.remove(entry.getKey());
      chunk.memory.close();
    }
    return true;
  }

  /** Takes all pages back without asking anybody. */
  synchronized void clear() {
    List<Chunk> all = new ArrayList<>(chunks.values());
    chunks.clear();
    taken = 0;
    all.forEach(chunk -> chunk.memory.close());
  }
}
