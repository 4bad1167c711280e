package org.rdma4j.mlx5.device.internal;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import org.rdma4j.mlx5.ifc.Field;
import org.rdma4j.mlx5.ifc.Layouts;
import org.rdma4j.pci.DmaFault;
import org.rdma4j.pci.DmaWindow;
import org.rdma4j.pci.PciHost;
import org.rdma4j.roce.engine.FailedCheck;
import org.rdma4j.roce.engine.RegisteredMemory;

/**
 * A memory key: who may do what to which addresses, and where they are in host memory. Every access goes through PCI;
 * what the driver has not mapped, or has taken back, is memory that is gone. Engine thread.
 */
final class MemoryKey extends RegisteredMemory {
  /** Addresses are those of the bus. */
  static final int PHYSICAL = 0;
  /** A list of pages of one size. */
  static final int MTT = 1;
  /** A list of ranges of other keys. */
  static final int KLM = 2;

  private static final int ANY_QP = 0xff_ffff;
  private static final int DEEPEST = 4;
  private static final long PRESENT_READ = 1;
  private static final long PRESENT_WRITE = 2;
  private static final long PAGE_FLAGS = 7;
  private static final VarHandle ATOMIC = ValueLayout.JAVA_LONG.varHandle();
  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;

  private static final Field FREE = Layouts.MKC.field("free");
  private static final Field MODE_HIGH = Layouts.MKC.field("access_mode_4_2");
  private static final Field MODE_LOW = Layouts.MKC.field("access_mode_1_0");
  private static final Field UMR = Layouts.MKC.field("umr_en");
  private static final Field ATOMICS = Layouts.MKC.field("a");
  private static final Field REMOTE_WRITES = Layouts.MKC.field("rw");
  private static final Field REMOTE_READS = Layouts.MKC.field("rr");
  private static final Field LOCAL_WRITES = Layouts.MKC.field("lw");
  private static final Field LOCAL_READS = Layouts.MKC.field("lr");
  private static final Field QPN = Layouts.MKC.field("qpn");
  private static final Field VARIANT = Layouts.MKC.field("mkey_7_0");
  private static final Field LENGTH_64 = Layouts.MKC.field("length64");
  private static final Field REMOTE_INVALIDATE = Layouts.MKC.field("en_rinval");
  private static final Field PD = Layouts.MKC.field("pd");
  private static final Field START = Layouts.MKC.field("start_addr");
  private static final Field LENGTH = Layouts.MKC.field("len");
  private static final Field OCTOWORDS = Layouts.MKC.field("translations_octword_size");
  private static final Field LOG_PAGE = Layouts.MKC.field("log_page_size");

  private final int index;
  private final MemoryKeys keys;
  private final MttTable translations;
  private final PciHost host;
  private final boolean checksPresence;
  private final int octowords;
  private final int firstTranslation;
  private final int mode;
  private int logPage;
  private int variant;
  private boolean umrAllowed;
  private boolean invalidatable;
  private boolean localReads;
  private long contiguous; // bytes in one piece from the address last resolved
  private long cachedPage = -1;
  private long cachedEntry;
  private MemoryKey region; // of a window that is bound
  private int windows; // that are bound to it
  private MemoryKey nextBound; // of all windows that are bound
  private MemoryKey previousBound;

  /**
   * Reads a context.
   *
   * @param index the upper 24 bits of the key
   * @param context where the context is, at {@code at}
   * @param checksPresence whether MTTs have bits that say what may be done to the page
   * @param firstTranslation first entry of the translations, or -1
   */
  MemoryKey(
      int index,
      MemorySegment context,
      long at,
      boolean checksPresence,
      int firstTranslation,
      MemoryKeys keys,
      MttTable translations,
      PciHost host) {
    this.index = index;
    this.keys = keys;
    this.translations = translations;
    this.host = host;
    this.checksPresence = checksPresence;
    this.firstTranslation = firstTranslation;
    this.octowords = OCTOWORDS.get(context, at);
    this.mode = mode(context, at);
    load(context, at);
  }

  static int mode(MemorySegment context, long at) {
    return MODE_HIGH.get(context, at) << 2 | MODE_LOW.get(context, at);
  }

  /** Takes the context as it is now. */
  void load(MemorySegment context, long at) {
    localReads = LOCAL_READS.isSet(context, at);
    access =
        (LOCAL_WRITES.isSet(context, at) ? LOCAL_WRITE : 0)
            | (REMOTE_WRITES.isSet(context, at) ? REMOTE_WRITE : 0)
            | (REMOTE_READS.isSet(context, at) ? REMOTE_READ : 0)
            | (ATOMICS.isSet(context, at) ? REMOTE_ATOMIC : 0);
    variant = VARIANT.get(context, at);
    int key = index << 8 | variant;
    localKey = localReads || (access & LOCAL_WRITE) != 0 ? key : 0;
    remoteKey = (access & ~LOCAL_WRITE) != 0 ? key : 0;
    int qpn = QPN.get(context, at);
    boundQp = qpn == ANY_QP ? 0 : qpn;
    protectionDomain = PD.get(context, at);
    start = LENGTH_64.isSet(context, at) ? 0 : START.getLong(context, at);
    length = LENGTH_64.isSet(context, at) ? Long.MAX_VALUE : Math.max(0, LENGTH.getLong(context, at));
    logPage = LOG_PAGE.get(context, at);
    umrAllowed = UMR.isSet(context, at);
    invalidatable = REMOTE_INVALIDATE.isSet(context, at);
    valid = !FREE.isSet(context, at);
    cachedPage = -1;
  }

  int index() {
    return index;
  }

  int mode() {
    return mode;
  }

  int octowords() {
    return octowords;
  }

  int firstTranslation() {
    return firstTranslation;
  }

  int pd() {
    return protectionDomain;
  }

  boolean isFree() {
    return !valid;
  }

  boolean takesUmr() {
    return umrAllowed;
  }

  /** Whether this is the key as it is now, with its lowest eight bits. */
  boolean isNow(int key) {
    return key == (index << 8 | variant);
  }

  /** The only queue pair that it serves, or 0. */
  int qp() {
    return boundQp;
  }

  /**
   * Whether a local or remote invalidate that a queue pair executes may end its use: when the driver allows it at all,
   * for a window of type 2 only the queue pair that has bound it, for a region only while no window is bound to it.
   */
  boolean mayBeInvalidated(int qp) {
    return invalidatable && (boundQp == 0 || boundQp == qp) && windows == 0;
  }

  /** Whether windows are bound to it. */
  boolean hasWindows() {
    return windows > 0;
  }

  /** The window is bound to a region from now on, and the first of a list of all that are bound. */
  void bind(MemoryKey to, MemoryKey first) {
    region = to;
    to.windows++;
    nextBound = first;
    if (first != null) {
      first.previousBound = this;
    }
  }

  boolean isBound() {
    return region != null;
  }

  MemoryKey nextBound() {
    return nextBound;
  }

  /** It is bound no more; {@return the first of those that are} */
  MemoryKey unbind(MemoryKey first) {
    region.windows--;
    region = null;
    MemoryKey head = first;
    if (previousBound == null) {
      head = nextBound;
    } else {
      previousBound.nextBound = nextBound;
    }
    if (nextBound != null) {
      nextBound.previousBound = previousBound;
    }
    nextBound = null;
    previousBound = null;
    return head;
  }

  /**
   * Whether a window may be bound to a range of this key.
   *
   * @param key how the bind names it
   * @param pd protection domain of the window
   * @param writes whether peers shall write through the window
   * @param address first byte
   * @param count bytes
   * @return NONE, or what the bind fails of
   */
  FailedCheck checkBind(int key, int pd, boolean writes, long address, long count) {
    if (!valid || localKey == 0 || localKey != key || mode == KLM) {
      return FailedCheck.BIND_REGION;
    }
    if (pd != protectionDomain) {
      return FailedCheck.BIND_PROTECTION_DOMAIN;
    }
    if (writes && (access & LOCAL_WRITE) == 0) {
      return FailedCheck.BIND_ACCESS;
    }
    return allows(key, pd, writes, address, count) ? FailedCheck.NONE : FailedCheck.BIND_RANGE;
  }

  /** Its translations have changed. */
  void forgetTranslations() {
    cachedPage = -1;
  }

  /** Whether the card itself may read or write here for a queue pair. */
  boolean allows(int key, int pd, boolean write, long address, long count) {
    return valid
        && localKey == key
        && pd == protectionDomain
        && (write ? (access & LOCAL_WRITE) != 0 : localReads)
        && count >= 0
        && count <= length
        && Long.compareUnsigned(address - start, length - count) <= 0;
  }

  /** DMA address of an address inside the range, or -1; {@link #contiguous} says how far it holds. */
  private long resolve(long address, boolean write, int depth) throws DmaFault {
    return switch (mode) {
      case PHYSICAL -> {
        contiguous = Long.MAX_VALUE;
        yield address;
      }
      case MTT -> resolvePage(address, write);
      default -> resolveRange(address, write, depth);
    };
  }

  private long resolvePage(long address, boolean write) throws DmaFault {
    long mask = (1L << logPage) - 1;
    long place = address - start + (start & mask);
    long page = place >>> logPage;
    if (page != cachedPage) {
      if (page >= 2L * octowords) {
        return -1;
      }
      cachedEntry = translations.get(firstTranslation, page);
      cachedPage = page;
    }
    if (checksPresence && (cachedEntry & (write ? PRESENT_WRITE : PRESENT_READ)) == 0) {
      return -1;
    }
    contiguous = mask + 1 - (place & mask);
    return (cachedEntry & ~PAGE_FLAGS) + (place & mask);
  }

  private long resolveRange(long address, boolean write, int depth) throws DmaFault {
    long place = address - start;
    for (int i = 0; i < octowords; i++) {
      long head = translations.get(firstTranslation, 2L * i);
      long bytes = head >>> Integer.SIZE;
      if (place >= bytes) {
        place -= bytes;
        continue;
      }
      long target = translations.get(firstTranslation, 2L * i + 1) + place;
      MemoryKey inner = keys.get((int) head);
      if (inner == null || depth == DEEPEST || !inner.allows((int) head, protectionDomain, write, target, 1)) {
        return -1;
      }
      long found = inner.resolve(target, write, depth + 1);
      long left = inner.start + inner.length - target;
      contiguous = Math.min(Math.min(bytes - place, left < 0 ? Long.MAX_VALUE : left), inner.contiguous);
      return found;
    }
    return -1;
  }

  @Override
  public boolean read(long address, MemorySegment target, long offset, int count) {
    return move(address, target, offset, count, false);
  }

  @Override
  public boolean write(long address, MemorySegment source, long offset, int count) {
    return move(address, source, offset, count, true);
  }

  private boolean move(long address, MemorySegment other, long offset, int count, boolean write) {
    try {
      for (int done = 0; done < count; ) {
        long place = resolve(address + done, write, 0);
        if (place < 0) {
          return false;
        }
        int now = (int) Math.min(count - done, contiguous);
        if (write) {
          host.write(place, other, offset + done, now);
        } else {
          host.read(place, other, offset + done, now);
        }
        done += now;
      }
      return true;
    } catch (DmaFault e) {
      return false;
    }
  }

  @Override
  public boolean compareAndSwap(long address, long compare, long swap, long[] result) {
    try {
      DmaWindow window = eight(address);
      if (window == null) {
        return false;
      }
      MemorySegment memory = window.segment();
      long at = resolve(address, true, 0) - window.address();
      if (isAligned(memory, at)) {
        result[0] = (long) ATOMIC.compareAndExchange(memory, at, compare, swap);
      } else {
        result[0] = memory.get(LONG, at);
        if (result[0] == compare) {
          memory.set(LONG, at, swap);
        }
      }
      return true;
    } catch (DmaFault | IllegalStateException e) {
      return false;
    }
  }

  @Override
  public boolean fetchAndAdd(long address, long addend, long[] result) {
    try {
      DmaWindow window = eight(address);
      if (window == null) {
        return false;
      }
      MemorySegment memory = window.segment();
      long at = resolve(address, true, 0) - window.address();
      if (isAligned(memory, at)) {
        result[0] = (long) ATOMIC.getAndAdd(memory, at, addend);
      } else {
        result[0] = memory.get(LONG, at);
        memory.set(LONG, at, result[0] + addend);
      }
      return true;
    } catch (DmaFault | IllegalStateException e) {
      return false;
    }
  }

  @Override
  public boolean atomicWrite(long address, MemorySegment source, long offset) {
    return write(address, source, offset, Long.BYTES);
  }

  /** The mapping of eight bytes that lie in one piece, or null. */
  private DmaWindow eight(long address) throws DmaFault {
    long place = resolve(address, true, 0);
    return place < 0 || contiguous < Long.BYTES ? null : host.window(place, Long.BYTES, true);
  }

  private static boolean isAligned(MemorySegment memory, long at) {
    return ((memory.address() + at) & Long.BYTES - 1) == 0;
  }
}
