package org.rdma4j.mlx5.device.internal;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.rdma4j.mlx5.device.EntryTableUsage;
import org.rdma4j.mlx5.ifc.CommandStatus;
import org.rdma4j.mlx5.ifc.Layout;
import org.rdma4j.pci.DmaFault;
import org.rdma4j.pci.PciHost;

/**
 * Entries of one type in host pages ("hardware entry memory"): a page is taken when the first of its entries is
 * allocated, and put back with the last one. Engine thread; finding an entry does not allocate.
 */
final class EntryTable {
  private static final long NO_PAGE = 0; // The driver never gives page 0.

  private final String name;
  private final Layout layout;
  private final int entryBytes;
  private final int perPage;
  private final int first;
  private final int count;
  private final HostPages pages;
  private final PciHost host;
  private final BitSet used = new BitSet();
  private final long[] places; // page of each chunk
  private final int[] inChunk; // entries used in each
  private int usedCount;
  private int pageCount;
  private int next;

  /**
   * Describes a table.
   *
   * @param name type of the entries
   * @param layout what an entry looks like, or null for plain numbers
   * @param entryBytes size of an entry, a power of two up to a page
   * @param first lowest index that is given out
   * @param count indices from 0, also those below {@code first}
   */
  EntryTable(String name, Layout layout, int entryBytes, int first, int count, HostPages pages, PciHost host) {
    this.name = name;
    this.layout = layout;
    this.entryBytes = entryBytes;
    this.perPage = HostPages.PAGE / entryBytes;
    this.first = first;
    this.count = count;
    this.pages = pages;
    this.host = host;
    this.next = first;
    this.places = new long[(count + perPage - 1) / perPage];
    this.inChunk = new int[places.length];
  }

  String name() {
    return name;
  }

  int used() {
    return usedCount;
  }

  EntryTableUsage usage() {
    return new EntryTableUsage(name, entryBytes, usedCount, count - first, pageCount);
  }

  boolean contains(int index) {
    return index >= 0 && used.get(index);
  }

  /** Refuses a number that no entry has. */
  int existing(int index) throws CommandFailure {
    if (!contains(index)) {
      throw new CommandFailure(CommandStatus.BAD_RESOURCE, Syndrome.NO_SUCH_OBJECT);
    }
    return index;
  }

  /** Takes the next free index, so that one that was freed is not soon used again. */
  int allocate() throws CommandFailure {
    return allocate(1);
  }

  /** Takes so many free indices in a row; all of them or none. */
  int allocate(int run) throws CommandFailure {
    int index = find(next, run);
    if (index < 0) {
      index = find(first, run);
    }
    if (index < 0) {
      throw new CommandFailure(CommandStatus.LIMITS_EXCEEDED, Syndrome.NO_FREE_INDEX);
    }
    int from = index / perPage;
    int to = (index + run - 1) / perPage;
    int missing = 0;
    for (int chunk = from; chunk <= to; chunk++) {
      missing += places[chunk] == NO_PAGE ? 1 : 0;
    }
    pages.require(missing);
    for (int chunk = from; chunk <= to; chunk++) {
      if (places[chunk] == NO_PAGE) {
        places[chunk] = pages.take();
        pageCount++;
      }
      inChunk[chunk] += Math.min(index + run, (chunk + 1) * perPage) - Math.max(index, chunk * perPage);
    }
    used.set(index, index + run);
    usedCount += run;
    next = index + run;
    return index;
  }

  private int find(int from, int run) {
    int index = used.nextClearBit(from);
    while (index <= count - run) {
      int end = used.nextSetBit(index);
      if (end < 0 || end >= index + run) {
        return index;
      }
      index = used.nextClearBit(end);
    }
    return -1;
  }

  void free(int index) {
    free(index, 1);
  }

  void free(int index, int run) {
    used.clear(index, index + run);
    usedCount -= run;
    for (int chunk = index / perPage; chunk <= (index + run - 1) / perPage; chunk++) {
      inChunk[chunk] -= Math.min(index + run, (chunk + 1) * perPage) - Math.max(index, chunk * perPage);
      if (inChunk[chunk] == 0) {
        pages.putBack(places[chunk]);
        places[chunk] = NO_PAGE;
        pageCount--;
      }
    }
  }

  /** Writes an entry, zeroes after what is given. */
  void store(int index, MemorySegment entry, long at, int length) throws CommandFailure {
    try {
      host.write(address(index), entry, at, Math.min(length, entryBytes));
    } catch (DmaFault e) {
      throw new CommandFailure(CommandStatus.INTERNAL_ERROR, Syndrome.PAGE_FAULT);
    }
  }

  /** Reads an entry. */
  void load(int index, MemorySegment entry, long at, int length) throws CommandFailure {
    try {
      host.read(address(index), entry, at, Math.min(length, entryBytes));
    } catch (DmaFault e) {
      throw new CommandFailure(CommandStatus.INTERNAL_ERROR, Syndrome.PAGE_FAULT);
    }
  }

  /** DMA address of an entry that is allocated. */
  long address(int index) {
    return places[index / perPage] + (long) (index % perPage) * entryBytes;
  }

  /** Frees all of them. */
  void clear() {
    for (int i = used.nextSetBit(0); i >= 0; i = used.nextSetBit(i)) {
      free(i);
    }
  }

  /** Entries as text, from the lowest number on. */
  List<String> describe(int most) {
    List<String> lines = new ArrayList<>();
    MemorySegment entry = Arena.ofAuto().allocate(entryBytes, Long.BYTES);
    for (int i = used.nextSetBit(0); i >= 0 && lines.size() < most; i = used.nextSetBit(i + 1)) {
      String text;
      try {
        host.read(address(i), entry, 0, entryBytes);
        text = layout == null ? "" : layout.format(entry, 0);
      } catch (DmaFault e) {
        text = e.getMessage();
      }
      lines.add("%s 0x%06x @0x%x %s".formatted(name, i, address(i), text).stripTrailing());
    }
    return lines;
  }
}
