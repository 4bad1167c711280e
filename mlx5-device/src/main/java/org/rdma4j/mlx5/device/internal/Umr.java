package org.rdma4j.mlx5.device.internal;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.rdma4j.mlx5.ifc.Field;
import org.rdma4j.mlx5.ifc.Layouts;
import org.rdma4j.pci.DmaFault;
import org.rdma4j.roce.engine.FailedCheck;

/**
 * User-mode memory registration: a work queue entry changes the context of a memory key, and its translations, without
 * a command. Either all that it asks for is done or nothing of it. Engine thread.
 */
final class Umr {
  private static final Field INLINE = Layouts.of("wqe_umr_ctrl").field("inline");
  private static final Field CHECK = Layouts.of("wqe_umr_ctrl").field("check");
  private static final Field CHECK_QP = Layouts.of("wqe_umr_ctrl").field("check_qpn");
  private static final Field OFFSET_ENABLED = Layouts.of("wqe_umr_ctrl").field("translation_offset_en");
  private static final Field OCTOWORDS = Layouts.of("wqe_umr_ctrl").field("xlt_octowords");
  private static final Field OFFSET_LOW = Layouts.of("wqe_umr_ctrl").field("xlt_offset_15_0");
  private static final Field OFFSET_HIGH = Layouts.of("wqe_umr_ctrl").field("xlt_offset_47_16");
  private static final Field MASK = Layouts.of("wqe_umr_ctrl").field("mkey_mask");
  private static final Field KEY = Layouts.of("wqe_ctrl").field("imm");
  private static final Field FREE = Layouts.MKC.field("free");
  private static final Field VARIANT = Layouts.MKC.field("mkey_7_0");
  private static final Field WRITES = Layouts.MKC.field("rw");
  private static final Field ATOMICS = Layouts.MKC.field("a");
  private static final Field LENGTH = Layouts.MKC.field("len");
  private static final Field LOG_PAGE = Layouts.MKC.field("log_page_size");
  private static final ValueLayout.OfInt DWORD = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final ValueLayout.OfLong QWORD = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

  private static final int CONTROL = 16;
  private static final int CONTEXT = CONTROL + 48;
  private static final int LIST = CONTEXT + 64;
  private static final int SEGMENT = 16;
  private static final int MUST_BE_FREE = 1;
  private static final int MUST_NOT_BE_FREE = 2;
  private static final int LOG_SMALLEST_PAGE = 12;
  private static final long FREE_BIT = 1L << 29;
  private static final long PD_BIT = 1L << 7;
  private static final long KEY_BIT = 1L << 13;
  private static final long QP_BIT = 1L << 14;
  private static final int VARIANT_MASK = 0xff;
  private static final int CHUNK = 4096;
  private static final int OFFSET_SHIFT = 16;

  /** What a bit of the mask takes over. */
  private enum Part {
    LEN(0, "len"),
    PAGE_SIZE(1, "log_page_size"),
    START(6, "start_addr"),
    DOMAIN(7, "pd"),
    REMOTE_INVALIDATE(8, "en_rinval"),
    VARIANT(13, "mkey_7_0"),
    QP(14, "qpn"),
    LOCAL_READ(17, "lr"),
    LOCAL_WRITE(18, "lw"),
    REMOTE_READ(19, "rr"),
    REMOTE_WRITE(20, "rw"),
    ATOMIC(21, "a"),
    SMALL_FENCE(23, "small_fence_on_rdma_read_response"),
    RELAXED_WRITE(25, "relaxed_ordering_write"),
    FREED(29, "free"),
    RELAXED_READ(47, "relaxed_ordering_read");

    private final long bit;
    private final Field field;

    Part(int bit, String field) {
      this.bit = 1L << bit;
      this.field = Layouts.MKC.field(field);
    }

    private void copy(MemorySegment from, long at, MemorySegment to) {
      if (field.bits() > 0) {
        field.set(to, 0, field.get(from, at));
      } else {
        field.setLong(to, 0, field.getLong(from, at));
      }
    }
  }

  private static final Part[] PARTS = Part.values();

  private final MemoryKeys keys;
  private final MemorySegment context = Arena.ofAuto().allocate(Layouts.MKC.size(), Long.BYTES);
  private final MemorySegment list = Arena.ofAuto().allocate(CHUNK, Long.BYTES);

  Umr(MemoryKeys keys) {
    this.keys = keys;
  }

  /**
   * Whether all that an entry asks for is that a key is free: a local invalidate, as the kernel writes it, or as
   * libmlx5 does, which checks the queue pair of a window besides.
   */
  static boolean onlyFrees(MemorySegment entry, int length) {
    if (length < LIST || !FREE.isSet(entry, CONTEXT)) {
      return false;
    }
    long mask = MASK.getLong(entry, CONTROL);
    return mask == FREE_BIT || (mask == (FREE_BIT | KEY_BIT | QP_BIT) && CHECK_QP.isSet(entry, CONTROL));
  }

  /** Whether an entry is about a key on ranges of others, and so the bind of a memory window. */
  boolean isOfWindow(Wqe wqe) {
    MemoryKey key = wqe.length < LIST ? null : keys.get(KEY.get(wqe.memory, 0));
    return key != null && key.mode() == MemoryKey.KLM;
  }

  /**
   * Executes an entry.
   *
   * @param wqe the entry
   * @param pd protection domain of the queue pair; 0 for one that has none and may read its lists anywhere
   * @param qp number of the queue pair
   * @param anyDomain whether the queue pair may change keys of every domain, as the driver's own may
   * @return NONE when it is done
   */
  FailedCheck execute(Wqe wqe, int pd, int qp, boolean anyDomain) {
    MemorySegment entry = wqe.memory;
    if (wqe.length < LIST) {
      return FailedCheck.WORK_REQUEST;
    }
    MemoryKey key = keys.get(KEY.get(entry, 0));
    FailedCheck check = checkKey(wqe, key, pd, qp, anyDomain);
    if (check == FailedCheck.NONE) {
      check = takeOver(entry, key);
    }
    if (check != FailedCheck.NONE) {
      return check;
    }
    boolean window = key.mode() == MemoryKey.KLM;
    boolean binds = window && !anyDomain && !FREE.isSet(context, 0) && INLINE.isSet(entry, CONTROL);
    if (binds) {
      check = checkBind(wqe, key);
    }
    if (check == FailedCheck.NONE) {
      check = translate(wqe, key, pd);
    }
    if (check != FailedCheck.NONE) {
      return check;
    }
    try {
      keys.store(key, context);
    } catch (CommandFailure e) {
      return FailedCheck.REGISTER_MEMORY;
    }
    if (binds) {
      keys.bind(key, keys.get(entry.get(DWORD, LIST + 4)));
    }
    return FailedCheck.NONE;
  }

  /** Whether this queue pair may do that to the key, and the key is as the entry wants it. */
  private static FailedCheck checkKey(Wqe wqe, MemoryKey key, int pd, int qp, boolean anyDomain) {
    MemorySegment entry = wqe.memory;
    long mask = MASK.getLong(entry, CONTROL);
    boolean frees = onlyFrees(entry, wqe.length);
    if (key == null || !key.takesUmr()) {
      return frees ? FailedCheck.LOCAL_INVALIDATE : FailedCheck.REGISTER_REGION;
    }
    boolean window = key.mode() == MemoryKey.KLM;
    if (!anyDomain && (key.pd() != pd || (mask & PD_BIT) != 0)) {
      return refusal(frees, window, FailedCheck.BIND_PROTECTION_DOMAIN, FailedCheck.REGISTER_REGION);
    }
    int named = KEY.get(entry, 0);
    boolean another = (mask & KEY_BIT) != 0 && (named & VARIANT_MASK) == VARIANT.get(entry, CONTEXT);
    if (!another && !key.isNow(named)) {
      return refusal(frees, window, FailedCheck.BIND_WINDOW, FailedCheck.REGISTER_REGION);
    }
    int wanted = CHECK.get(entry, CONTROL);
    boolean misfit =
        (wanted == MUST_BE_FREE && !key.isFree())
            || (wanted == MUST_NOT_BE_FREE && key.isFree())
            || (CHECK_QP.isSet(entry, CONTROL) && !key.isFree() && key.qp() != qp);
    if (misfit) {
      return refusal(frees, window, FailedCheck.BIND_STATE, FailedCheck.REGISTER_STATE);
    }
    boolean ends = (mask & FREE_BIT) != 0 && FREE.isSet(entry, CONTEXT) && !key.isFree();
    boolean allowed = !key.hasWindows() && (!frees || anyDomain || key.mayBeInvalidated(qp));
    return ends && !allowed ? FailedCheck.LOCAL_INVALIDATE : FailedCheck.NONE;
  }

  private static FailedCheck refusal(boolean frees, boolean window, FailedCheck ofWindow, FailedCheck ofRegion) {
    if (frees) {
      return FailedCheck.LOCAL_INVALIDATE;
    }
    return window ? ofWindow : ofRegion;
  }

  /** Makes the context as it shall be, without anybody seeing it yet. */
  private FailedCheck takeOver(MemorySegment entry, MemoryKey key) {
    try {
      keys.load(key, context);
    } catch (CommandFailure e) {
      return FailedCheck.REGISTER_MEMORY;
    }
    long mask = MASK.getLong(entry, CONTROL);
    for (Part part : PARTS) {
      if ((mask & part.bit) != 0) {
        part.copy(entry, CONTEXT, context);
        mask &= ~part.bit;
      }
    }
    boolean unknown = mask != 0; // A bit of what is not modelled.
    boolean small = key.mode() == MemoryKey.MTT && LOG_PAGE.get(context, 0) < LOG_SMALLEST_PAGE;
    return unknown || small || LENGTH.getLong(context, 0) < 0 ? FailedCheck.WORK_REQUEST : FailedCheck.NONE;
  }

  /** The bind of a window: one range of a region, which allows it. */
  private FailedCheck checkBind(Wqe wqe, MemoryKey key) {
    MemorySegment entry = wqe.memory;
    if (wqe.length < LIST + SEGMENT || OCTOWORDS.get(entry, CONTROL) == 0) {
      return FailedCheck.BIND_REGION;
    }
    int name = entry.get(DWORD, LIST + 4);
    MemoryKey region = keys.get(name);
    long count = Integer.toUnsignedLong(entry.get(DWORD, LIST));
    if (region == null || count == 0) {
      return FailedCheck.BIND_REGION;
    }
    if (LENGTH.getLong(context, 0) > count) {
      return FailedCheck.BIND_RANGE;
    }
    boolean writes = WRITES.isSet(context, 0) || ATOMICS.isSet(context, 0);
    return region.checkBind(name, key.pd(), writes, entry.get(QWORD, LIST + 8), count);
  }

  /** Brings the list that comes with an entry, or that it points to, to the translations of the key. */
  private FailedCheck translate(Wqe wqe, MemoryKey key, int pd) {
    MemorySegment entry = wqe.memory;
    long count = OCTOWORDS.get(entry, CONTROL);
    long at = 0;
    if (OFFSET_ENABLED.isSet(entry, CONTROL)) {
      at = Integer.toUnsignedLong(OFFSET_HIGH.get(entry, CONTROL)) << OFFSET_SHIFT | OFFSET_LOW.get(entry, CONTROL);
    }
    boolean inline = INLINE.isSet(entry, CONTROL);
    boolean hasList = wqe.length > LIST;
    if (count == 0 || !hasList) {
      return FailedCheck.NONE;
    }
    if (at >= key.octowords() || key.firstTranslation() < 0) {
      return FailedCheck.REGISTER_MEMORY;
    }
    // The driver rounds the list up; what lies beyond the key's own room is padding.
    long wanted = Math.min(count, key.octowords() - at);
    try {
      if (inline) {
        if (LIST + wanted * MttTable.OCTOWORD > wqe.length) {
          return FailedCheck.WORK_REQUEST;
        }
        keys.translations().put(key.firstTranslation(), at, entry, LIST, wanted);
      } else if (!gather(entry, key, at, wanted, pd)) {
        return FailedCheck.REGISTER_MEMORY;
      }
    } catch (DmaFault e) {
      return FailedCheck.REGISTER_MEMORY;
    } finally {
      key.forgetTranslations();
    }
    return FailedCheck.NONE;
  }

  private boolean gather(MemorySegment entry, MemoryKey key, long at, long count, int pd) throws DmaFault {
    int bytes = entry.get(DWORD, LIST);
    int lkey = entry.get(DWORD, LIST + 4);
    long address = entry.get(QWORD, LIST + 8);
    MemoryKey source = keys.get(lkey);
    long needed = count * MttTable.OCTOWORD;
    int domain = pd == 0 && source != null ? source.pd() : pd; // Of no domain is the driver's own.
    if (source == null || bytes < needed || !source.allows(lkey, domain, false, address, needed)) {
      return false;
    }
    for (long done = 0; done < needed; ) {
      int now = (int) Math.min(CHUNK, needed - done);
      if (!source.read(address + done, list, 0, now)) {
        return false;
      }
      keys.translations()
          .put(key.firstTranslation(), at + done / SEGMENT, list, 0, now / SEGMENT);
      done += now;
    }
    return true;
  }
}
