package org.rdma4j.mlx5.core.internal;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.rdma4j.mlx5.core.DoorbellRecord;
import org.rdma4j.pci.DmaMapping;
import org.rdma4j.pci.PciDevice;

/** Doorbell records, each on a cache line of its own in a shared page (kernel: {@code alloc.c}). */
final class DoorbellPages {
  private static final int PAGE = 4096;
  private static final int LINE = 64;
  private static final int RECORD = 8;

  private static final class Page {
    private final DmaMapping memory;
    private long used;

    private Page(DmaMapping memory) {
      this.memory = memory;
    }
  }

  private final class Slot implements DoorbellRecord {
    private final Page page;
    private final int index;
    private final AtomicBoolean closed = new AtomicBoolean();

    private Slot(Page page, int index) {
      this.page = page;
      this.index = index;
    }

    @Override
    public MemorySegment segment() {
      return page.memory.segment();
    }

    @Override
    public long offset() {
      return (long) index * LINE;
    }

    @Override
    public long address() {
      return page.memory.address() + offset();
    }

    @Override
    public void close() {
      if (closed.compareAndSet(false, true)) {
        release(page, index);
      }
    }
  }

  private final PciDevice pci;
  private final List<Page> pages = new ArrayList<>(); // guarded by this

  DoorbellPages(PciDevice pci) {
    this.pci = pci;
  }

  synchronized DoorbellRecord allocate() {
    Page page = pages.stream().filter(each -> each.used != -1).findFirst().orElse(null);
    if (page == null) {
      page = new Page(pci.allocate(PAGE));
      pages.add(page);
    }
    int index = Long.numberOfTrailingZeros(~page.used);
    page.used |= 1L << index;
    Slot record = new Slot(page, index);
    page.memory.segment().asSlice(record.offset(), RECORD).fill((byte) 0);
    return record;
  }

  private synchronized void release(Page page, int index) {
    page.used &= ~(1L << index);
    if (page.used == 0 && pages.remove(page)) {
      page.memory.close();
    }
  }
}
