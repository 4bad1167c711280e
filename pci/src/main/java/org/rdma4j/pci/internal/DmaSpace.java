package org.rdma4j.pci.internal;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.rdma4j.pci.DmaDirection;
import org.rdma4j.pci.DmaMapping;
import org.rdma4j.pci.DmaScatter;
import org.rdma4j.pci.PciErrno;
import org.rdma4j.pci.PciException;

/**
 * What a function can reach of host memory, by DMA address (in hardware the function's domain in the IOMMU). A mapping
 * reaches exactly its bytes; between two lies a page that nobody has, so that an overrun is a fault. Looking up neither
 * blocks nor allocates.
 */
final class DmaSpace {
  static final int PAGE = 4096;
  private static final long FIRST = 0x1000_0000L;
  private static final int LEAST_BITS = 32;
  private static final long LARGEST_ALIGNMENT = 1L << 21;
  private static final Range[] NONE = {};

  private final AddressSpace addresses = new AddressSpace("DMA addresses", FIRST, PAGE);
  private volatile long last = 0xffff_ffffL;
  private volatile Range[] ranges = NONE; // sorted by address; replaced as a whole under this

  /** The function can drive so many address bits. */
  void limit(int bits) {
    if (bits < LEAST_BITS || bits > Long.SIZE) {
      throw new PciException(PciErrno.EINVAL, "DMA mask of " + bits + " bits: allowed are 32 to 64");
    }
    last = bits == Long.SIZE ? Long.MAX_VALUE : (1L << bits) - 1;
  }

  DmaMapping allocate(long length) {
    if (length < 1) {
      throw new PciException(PciErrno.EINVAL, "allocating " + length + " bytes for DMA: at least 1 is allowed");
    }
    Arena arena = Arena.ofShared();
    try {
      MemorySegment memory = arena.allocate(length, PAGE);
      long alignment = Math.clamp(Long.highestOneBit(2 * length - 1), PAGE, LARGEST_ALIGNMENT);
      long address = addresses.take(roundUp(length), alignment, last);
      return add(new Range(this, address, address, memory, DmaDirection.BIDIRECTIONAL, arena));
    } catch (PciException | OutOfMemoryError e) {
      arena.close();
      throw e;
    }
  }

  DmaScatter map(List<MemorySegment> pieces, long pageSize, DmaDirection direction) {
    if (Long.bitCount(pageSize) != 1 || pageSize < PAGE || pieces.isEmpty()) {
      throw new PciException(
          PciErrno.EINVAL,
          "mapping " + pieces.size() + " pieces in pages of " + pageSize + " for DMA: at least one piece, and pages of"
              + " a power of two from " + PAGE + " on are allowed");
    }
    long offset = pieces.getFirst().address() & (pageSize - 1);
    long length = 0;
    MemorySegment before = null;
    for (MemorySegment piece : pieces) {
      check(piece);
      long end = before == null ? 0 : before.address() + before.byteSize();
      if (before != null && ((end | piece.address()) & (PAGE - 1)) != 0 && end != piece.address()) {
        throw new PciException(
            PciErrno.EINVAL, before + " and " + piece + " do not meet at a page, so no DMA addresses make them one");
      }
      length += piece.byteSize();
      before = piece;
    }
    long first = addresses.take(roundUp(offset + length), pageSize, last);
    long address = first + offset;
    List<Range> made = new ArrayList<>(pieces.size());
    for (MemorySegment piece : pieces) {
      made.add(add(new Range(this, made.isEmpty() ? first : Range.PART, address, piece, direction, null)));
      address += piece.byteSize();
    }
    return new Scatter(List.copyOf(made), length);
  }

  /** Several mappings that end together; the first has the addresses of all. */
  private record Scatter(List<Range> parts, long length) implements DmaScatter {
    @Override
    public long address() {
      return parts.getFirst().address();
    }

    @Override
    public void close() {
      for (Range part : parts.reversed()) {
        part.close();
      }
    }
  }

  private static void check(MemorySegment segment) {
    if (!segment.isNative() || !isShared(segment) || segment.byteSize() == 0) {
      throw new PciException(
          PciErrno.EINVAL,
          "mapping " + segment + " for DMA: allowed is native memory of at least one byte that any thread may use");
    }
  }

  DmaMapping map(MemorySegment segment, DmaDirection direction) {
    check(segment);
    long offset = segment.address() & (PAGE - 1);
    long first = addresses.take(roundUp(offset + segment.byteSize()), PAGE, last);
    return add(new Range(this, first, first + offset, segment, direction, null));
  }

  private static boolean isShared(MemorySegment segment) {
    Thread other = Thread.ofPlatform().unstarted(() -> {});
    return segment.isAccessibleBy(other);
  }

  private static long roundUp(long length) {
    return (length + PAGE - 1) & -PAGE;
  }

  private synchronized Range add(Range range) {
    int at = -1 - indexOf(ranges, range.address());
    Range[] more = new Range[ranges.length + 1];
    System.arraycopy(ranges, 0, more, 0, at);
    more[at] = range;
    System.arraycopy(ranges, at, more, at + 1, ranges.length - at);
    ranges = more;
    return range;
  }

  void remove(Range range) {
    synchronized (this) {
      ranges = Arrays.stream(ranges).filter(each -> each != range).toArray(Range[]::new);
    }
    if (range.first() != Range.PART) {
      addresses.release(range.first());
    }
  }

  /** The mapping with this address, or null. */
  Range find(long address) {
    Range[] all = ranges;
    int at = indexOf(all, address);
    int candidate = at >= 0 ? at : -2 - at;
    if (candidate < 0) {
      return null;
    }
    Range range = all[candidate];
    return address - range.address() < range.length() ? range : null;
  }

  /** As {@link Arrays#binarySearch}. */
  private static int indexOf(Range[] all, long address) {
    int low = 0;
    int high = all.length - 1;
    while (low <= high) {
      int middle = (low + high) >>> 1;
      long found = all[middle].address();
      if (found == address) {
        return middle;
      }
      if (found < address) {
        low = middle + 1;
      } else {
        high = middle - 1;
      }
    }
    return -1 - low;
  }

  /** What is mapped now. */
  List<DmaMapping> mappings() {
    return new ArrayList<>(Arrays.asList(ranges));
  }
}
