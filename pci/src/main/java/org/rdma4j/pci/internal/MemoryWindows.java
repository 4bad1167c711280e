package org.rdma4j.pci.internal;

import org.rdma4j.pci.BarLayout;

/** Where the host bridge puts the regions of cards: below 4 GiB, or high up when they can lie there. */
final class MemoryWindows {
  private static final long LOW_FIRST = 0xc000_0000L;
  private static final long LOW_LAST = 0xfebf_ffffL;
  private static final long HIGH_FIRST = 0x3800_0000_0000L;
  private static final long HIGH_LAST = 0x3fff_ffff_ffffL;

  private final AddressSpace low = new AddressSpace("memory window", LOW_FIRST, 0);
  private final AddressSpace high = new AddressSpace("64-bit memory window", HIGH_FIRST, 0);

  long take(BarLayout bar) {
    return goesHigh(bar)
        ? high.take(bar.size(), bar.size(), HIGH_LAST)
        : low.take(bar.size(), bar.size(), LOW_LAST);
  }

  void release(BarLayout bar, long address) {
    (goesHigh(bar) ? high : low).release(address);
  }

  private static boolean goesHigh(BarLayout bar) {
    return bar.wide() && bar.prefetchable();
  }
}
