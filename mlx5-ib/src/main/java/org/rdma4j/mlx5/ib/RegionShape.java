package org.rdma4j.mlx5.ib;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.rdma4j.ib.core.verbs.Access;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.mlx5.core.CommandRequest;
import org.rdma4j.mlx5.core.Structure;
import org.rdma4j.mlx5.ifc.Opcode;

/**
 * What a key says of a region (kernel: {@code mr.c:set_mkc_access_pd_addr_fields}, {@code mlx5_umem_find_best_pgsz}).
 *
 * @param first DMA address of the first page
 * @param logPage logarithm of a page's bytes
 * @param pages how many pages there are
 * @param iova address of the first byte
 * @param length bytes
 * @param access the rights
 * @param pd number of the protection domain
 */
record RegionShape(long first, int logPage, int pages, long iova, long length, Set<Access> access, int pd) {
  private static final int MODE_PAGES = 1;
  private static final int SMALLEST_LOG_PAGE = 12;
  private static final int LARGEST_LOG_PAGE = 30;
  private static final int READ_AND_WRITE = 3;

  /**
   * Finds the pages.
   *
   * @param dma DMA address of the first byte
   * @throws VerbsException EINVAL where address and memory lie differently in their pages
   */
  static RegionShape of(long dma, long iova, long length, Set<Access> access, int pd) {
    int logPage = logPage(dma, iova, length);
    if (logPage < SMALLEST_LOG_PAGE) {
      throw new VerbsException(
          Errno.EINVAL,
          "the address 0x" + Long.toHexString(iova) + " for memory at offset 0x"
              + Long.toHexString(dma & (1 << SMALLEST_LOG_PAGE) - 1)
              + " of its page; the card translates whole pages, so both must have the same offset");
    }
    long mask = (1L << logPage) - 1;
    int pages = (int) (((iova & mask) + length + mask) >>> logPage);
    return new RegionShape(dma & ~mask, logPage, pages, iova, length, access, pd);
  }

  /** The largest page in which memory and address lie alike, but none much larger than the memory. */
  private static int logPage(long dma, long iova, long length) {
    int alike = Long.numberOfTrailingZeros(dma ^ iova);
    int wanted = Long.SIZE - Long.numberOfLeadingZeros(length - 1 | 1);
    return Math.min(Math.min(alike, Math.max(wanted, SMALLEST_LOG_PAGE)), LARGEST_LOG_PAGE);
  }

  /** Octowords of its translations, two pages each. */
  int octowords() {
    return (pages + 1) / 2;
  }

  /** Whether windows may be bound to it. */
  boolean takesWindows() {
    return access.contains(Access.MW_BIND);
  }

  /** Its translations, as many as there are pages. */
  void list(MemorySegment to) {
    for (int i = 0; i < pages; i++) {
      to.set(BigEndian.LONG, (long) i * Long.BYTES, entry(i));
    }
  }

  private long entry(int page) {
    return first + ((long) page << logPage) | READ_AND_WRITE;
  }

  /** The command that makes a key of it. */
  CommandRequest creation() {
    CommandRequest request =
        CommandRequest.of(Opcode.CREATE_MKEY, 2L * octowords() * Long.BYTES)
            .set("translations_octword_actual_size", octowords());
    Structure context = request.structure("memory_key_mkey_entry");
    context
        .set("access_mode_1_0", MODE_PAGES)
        .set("umr_en", 1)
        .set("lr", 1)
        .set("lw", access.contains(Access.LOCAL_WRITE) ? 1 : 0)
        .set("rr", access.contains(Access.REMOTE_READ) ? 1 : 0)
        .set("rw", access.contains(Access.REMOTE_WRITE) ? 1 : 0)
        .set("a", access.contains(Access.REMOTE_ATOMIC) ? 1 : 0)
        .set("qpn", UmrEntry.ANY_QP)
        .set("pd", pd)
        .set("translations_octword_size", octowords())
        .set("log_page_size", logPage)
        .setLong("start_addr", iova)
        .setLong("len", length);
    for (int i = 0; i < pages; i++) {
      request.list(i, entry(i));
    }
    return request;
  }

  /** The command that makes a free key with room for so many octowords. */
  static CommandRequest creationOfFree(int octowords, int pd) {
    CommandRequest request = CommandRequest.of(Opcode.CREATE_MKEY);
    request
        .structure("memory_key_mkey_entry")
        .set("free", 1)
        .set("access_mode_1_0", MODE_PAGES)
        .set("umr_en", 1)
        .set("qpn", UmrEntry.ANY_QP)
        .set("pd", pd)
        .set("translations_octword_size", octowords)
        .set("log_page_size", SMALLEST_LOG_PAGE);
    return request;
  }
}
