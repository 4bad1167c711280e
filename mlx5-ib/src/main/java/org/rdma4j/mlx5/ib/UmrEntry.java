package org.rdma4j.mlx5.ib;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.rdma4j.ib.core.verbs.Access;

/**
 * The layout of send queue entries that change memory keys (kernel: {@code wr.c:set_reg_wr}, {@code umr.c}; libmlx5:
 * {@code qp.c:set_bind_wr}): control, what is changed, the context of the key, and translations or where they are.
 * Allocates nothing.
 */
final class UmrEntry {
  static final int OPCODE = 0x25;

  /** Blocks of the longest of them. */
  static final int BLOCKS = 3;

  /** Bytes of translations that are written into the entry itself. */
  static final int INLINE_BYTES = 64;

  // What a change takes over from the context.
  static final long LENGTH = 1;
  static final long PAGE_SIZE = 1L << 1;
  static final long START = 1L << 6;
  static final long DOMAIN = 1L << 7;
  static final long REMOTE_INVALIDATE = 1L << 8;
  static final long KEY = 1L << 13;
  static final long QP = 1L << 14;
  static final long LOCAL_READ = 1L << 17;
  static final long LOCAL_WRITE = 1L << 18;
  static final long REMOTE_READ = 1L << 19;
  static final long REMOTE_WRITE = 1L << 20;
  static final long ATOMIC = 1L << 21;
  static final long SMALL_FENCE = 1L << 23;
  static final long FREE = 1L << 29;

  /** All rights. */
  static final long RIGHTS = LOCAL_WRITE | REMOTE_READ | REMOTE_WRITE | ATOMIC;

  // How the change is made.
  static final int INLINE = 0x80;
  static final int IF_NOT_FREE = 0x40;
  static final int IF_FREE = 0x20;
  static final int OFFSET = 0x10;

  /** In the context: the key is of no use. */
  static final int IS_FREE = 1 << 30;

  /** In the context: queue pairs of this number only; this one for all. */
  static final int ANY_QP = 0xff_ffff;

  private static final int CONTROL = 16;
  private static final int CONTEXT = CONTROL + 48;
  private static final int LIST = CONTEXT + 64;
  private static final int FLAGS_SHIFT = 24;
  private static final int RINVAL = 1 << 24;
  private static final int KEY_MASK = 0xff;
  private static final int QP_SHIFT = 8;
  private static final int OCTOWORD = 16;

  private UmrEntry() {}

  /** The bits of rights in a context. */
  static int rights(Set<Access> access) {
    return (access.contains(Access.LOCAL_WRITE) ? 1 << 11 : 0)
        | (access.contains(Access.REMOTE_READ) ? 1 << 12 : 0)
        | (access.contains(Access.REMOTE_WRITE) ? 1 << 13 : 0)
        | (access.contains(Access.REMOTE_ATOMIC) ? 1 << 14 : 0);
  }

  /** The bit of the right to read locally, which every region has. */
  static int localRead() {
    return 1 << 10;
  }

  /**
   * Begins an entry: all but the translations, of which there are none so far.
   *
   * @param flags how the change is made
   * @param octowords units of 16 bytes of translations
   * @param mask what is changed
   * @param bits rights, or that it is free
   * @param key the key, of which the lowest eight bits are taken
   * @param qp the only queue pair it serves, or {@link #ANY_QP}
   */
  static void begin(SendQueue queue, int flags, int octowords, long mask, int bits, int key, int qp) {
    queue.write(CONTROL, (long) (flags << FLAGS_SHIFT) << Integer.SIZE | (long) octowords << 16);
    queue.write(CONTROL + 8, mask);
    for (int at = CONTROL + 16; at < LIST; at += Long.BYTES) {
      queue.write(at, 0L);
    }
    queue.write(CONTEXT, bits);
    queue.write(CONTEXT + 4, qp << QP_SHIFT | key & KEY_MASK);
    queue.length(LIST);
  }

  /** Where the memory is, for peers and requests. */
  static void range(SendQueue queue, long start, long length) {
    queue.write(CONTEXT + 0x10, start);
    queue.write(CONTEXT + 0x18, length);
  }

  static void pages(SendQueue queue, int logPage, int octowords) {
    queue.write(CONTEXT + 0x34, octowords);
    queue.write(CONTEXT + 0x38, logPage);
  }

  /** The protection domain, and whether peers may invalidate the key. */
  static void domain(SendQueue queue, int pd, boolean remoteInvalidate) {
    queue.write(CONTEXT + 0x0c, (remoteInvalidate ? RINVAL : 0) | pd);
  }

  /** Translations of pages that are copied from memory, the rest of {@link #INLINE_BYTES} zero. */
  static void inlinePages(SendQueue queue, MemorySegment list, int count) {
    for (int i = 0; i < INLINE_BYTES / Long.BYTES; i++) {
      queue.write(LIST + i * Long.BYTES, i < count ? list.get(BigEndian.LONG, (long) i * Long.BYTES) : 0L);
    }
    queue.length(LIST + INLINE_BYTES);
  }

  /** One range of another key. */
  static void inlineRange(SendQueue queue, long bytes, int key, long address) {
    queue.write(LIST, bytes << Integer.SIZE | Integer.toUnsignedLong(key));
    queue.write(LIST + 8, address);
    for (int at = OCTOWORD; at < INLINE_BYTES; at += Long.BYTES) {
      queue.write(LIST + at, 0L);
    }
    queue.length(LIST + INLINE_BYTES);
  }

  /** Translations that the card reads itself. */
  static void list(SendQueue queue, long address, int bytes, int key) {
    queue.write(LIST, (long) bytes << Integer.SIZE | Integer.toUnsignedLong(key));
    queue.write(LIST + 8, address);
    queue.length(LIST + OCTOWORD);
  }
}
