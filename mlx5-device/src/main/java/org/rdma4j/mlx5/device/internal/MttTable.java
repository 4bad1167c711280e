package org.rdma4j.mlx5.device.internal;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.rdma4j.pci.DmaFault;
import org.rdma4j.pci.PciHost;

/**
 * Translation entries of memory keys, in host pages: octowords of two MTTs or one KLM each, in runs of whole entries
 * of the table. Engine thread; a look-up reads host memory and allocates nothing.
 */
final class MttTable {
  /** Bytes of an entry of the table. */
  static final int ENTRY = 64;

  static final int OCTOWORD = 16;
  private static final int OCTOWORDS = ENTRY / OCTOWORD;
  private static final ValueLayout.OfLong QWORD = ValueLayout.JAVA_LONG.withOrder(ByteOrder.BIG_ENDIAN);

  private final EntryTable table;
  private final PciHost host;
  private final MemorySegment scratch = Arena.ofAuto().allocate(ENTRY, Long.BYTES);

  MttTable(EntryTable table, PciHost host) {
    this.table = table;
    this.host = host;
  }

  /** Takes room for octowords; returns the first entry, or -1 for none at all. */
  int allocate(int octowords) throws CommandFailure {
    return octowords == 0 ? -1 : table.allocate(entries(octowords));
  }

  void free(int first, int octowords) {
    if (first >= 0) {
      table.free(first, entries(octowords));
    }
  }

  private static int entries(int octowords) {
    return (octowords + OCTOWORDS - 1) / OCTOWORDS;
  }

  private long address(int first, long offset) {
    return table.address(first + (int) (offset / ENTRY)) + offset % ENTRY;
  }

  /** A 64-bit number of a run. */
  long get(int first, long index) throws DmaFault {
    host.read(address(first, index * Long.BYTES), scratch, 0, Long.BYTES);
    return scratch.get(QWORD, 0);
  }

  /** Writes octowords to a run, which has room for them. */
  void put(int first, long octoword, MemorySegment source, long from, long count) throws DmaFault {
    for (long done = 0; done < count; ) {
      long at = octoword + done;
      long now = Math.min(count - done, OCTOWORDS - at % OCTOWORDS);
      host.write(address(first, at * OCTOWORD), source, from + done * OCTOWORD, now * OCTOWORD);
      done += now;
    }
  }

  /** Reads octowords of a run. */
  void get(int first, long octoword, MemorySegment target, long to, long count) throws DmaFault {
    for (long done = 0; done < count; done++) {
      host.read(address(first, (octoword + done) * OCTOWORD), target, to + done * OCTOWORD, OCTOWORD);
    }
  }
}
