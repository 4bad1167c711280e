package org.rdma4j.mlx5.device.internal;

import java.lang.foreign.MemorySegment;
import org.rdma4j.mlx5.ifc.CommandStatus;
import org.rdma4j.mlx5.ifc.Field;
import org.rdma4j.pci.DmaFault;
import org.rdma4j.pci.PciHost;

/** A buffer in host memory, made of pages ({@code pas} of a context). Immutable. */
final class PageList {
  private static final int LOG_SMALLEST_PAGE = 12;
  private static final int LOG_LARGEST_PAGE = 31;
  private static final int OFFSET_UNITS = 64;

  private final long[] pages;
  private final int logPage;
  private final long offset;

  PageList(long[] pages, int logPage, long offset) {
    this.pages = pages;
    this.logPage = logPage;
    this.offset = offset;
  }

  /**
   * Reads the list of a context.
   *
   * @param call the command
   * @param list where the list is in its input
   * @param bytes length of the buffer
   * @param logPageSize log2 of the page size, less 12
   * @param pageOffset where the buffer begins in its first page, in 64ths of a page
   * @throws CommandFailure bad parameter or input length
   */
  static PageList of(CommandCall call, Field list, long bytes, int logPageSize, int pageOffset)
      throws CommandFailure {
    int logPage = logPageSize + LOG_SMALLEST_PAGE;
    if (logPage > LOG_LARGEST_PAGE) {
      throw new CommandFailure(CommandStatus.BAD_PARAMETER, Syndrome.BAD_SIZE);
    }
    long offset = pageOffset * ((1L << logPage) / OFFSET_UNITS);
    long count = bytes + offset + (1L << logPage) - 1 >>> logPage;
    if (list.offset() + count * Long.BYTES > call.input().byteSize()) {
      throw new CommandFailure(CommandStatus.BAD_INPUT_LENGTH, Syndrome.LIST_TOO_SHORT);
    }
    long[] pages = new long[(int) count];
    for (int i = 0; i < count; i++) {
      pages[i] = call.listed(list, i);
      if (pages[i] == 0 || (pages[i] & (1L << logPage) - 1) != 0) {
        throw new CommandFailure(CommandStatus.BAD_PARAMETER, Syndrome.BAD_PAGE);
      }
    }
    return new PageList(pages, logPage, offset);
  }

  long address(long at) {
    long place = at + offset;
    return pages[(int) (place >>> logPage)] + (place & (1L << logPage) - 1);
  }

  int count() {
    return pages.length;
  }

  /** Writes the list to the output of a query. */
  void put(CommandCall call, Field list) throws CommandFailure {
    for (int i = 0; i < Math.min(pages.length, call.room(list)); i++) {
      call.list(list, i, pages[i]);
    }
  }

  void write(PciHost host, long at, MemorySegment source, long from, long length) throws DmaFault {
    for (long done = 0; done < length; ) {
      long count = Math.min(length - done, leftInPage(at + done));
      host.write(address(at + done), source, from + done, count);
      done += count;
    }
  }

  void read(PciHost host, long at, MemorySegment target, long to, long length) throws DmaFault {
    for (long done = 0; done < length; ) {
      long count = Math.min(length - done, leftInPage(at + done));
      host.read(address(at + done), target, to + done, count);
      done += count;
    }
  }

  private long leftInPage(long at) {
    return (1L << logPage) - (at + offset & (1L << logPage) - 1);
  }
}
