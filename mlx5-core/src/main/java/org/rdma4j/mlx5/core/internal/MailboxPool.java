package org.rdma4j.mlx5.core.internal;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.rdma4j.mlx5.ifc.Layouts;
import org.rdma4j.pci.DmaMapping;
import org.rdma4j.pci.PciDevice;

/** Blocks of command mailboxes, each at a multiple of 1024, which are kept for use again. Safe for any thread. */
final class MailboxPool implements AutoCloseable {
  private static final int STRIDE = 1024;
  private static final int BLOCKS = 64;

  /** A block: where the processor and where the card sees it. */
  record Block(MemorySegment segment, long address) {}

  private final PciDevice pci;
  private final List<DmaMapping> chunks = new ArrayList<>(); // guarded by this
  private final ArrayDeque<Block> free = new ArrayDeque<>(); // guarded by this

  MailboxPool(PciDevice pci) {
    this.pci = pci;
  }

  synchronized List<Block> take(int count) {
    while (free.size() < count) {
      DmaMapping chunk = pci.allocate((long) STRIDE * BLOCKS);
      chunks.add(chunk);
      for (long at = 0; at < chunk.length(); at += STRIDE) {
        free.add(new Block(chunk.segment().asSlice(at, Layouts.CMD_MAILBOX.size()), chunk.address() + at));
      }
    }
    List<Block> taken = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      taken.add(free.poll());
    }
    return taken;
  }

  synchronized void give(List<Block> blocks) {
    free.addAll(blocks);
  }

  @Override
  public synchronized void close() {
    free.clear();
    chunks.forEach(DmaMapping::close);
    chunks.clear();
  }
}
