package org.rdma4j.mlx5.ib;

import java.util.EnumSet;
import java.util.Set;
import org.rdma4j.ib.core.verbs.Access;
import org.rdma4j.ib.core.verbs.MemoryRegion;
import org.rdma4j.ib.core.verbs.MemoryWindow;
import org.rdma4j.ib.core.verbs.MrType;
import org.rdma4j.ib.core.verbs.MwBindInfo;
import org.rdma4j.ib.core.verbs.MwType;
import org.rdma4j.ib.core.verbs.Rkeys;

/**
 * Requests about memory keys on the send queue of a consumer: fast registration and local invalidate (kernel: {@code
 * wr.c:set_reg_wr, set_linv_wr}), and the bind of a window (libmlx5: {@code qp.c:set_bind_wr}). A check answers null,
 * or what is wrong; what is written answers what goes into the control segment. For the holder of the queue's lock;
 * allocates nothing.
 */
final class UmrPosting {
  private static final Set<Access> REGION_RIGHTS =
      EnumSet.of(
          Access.LOCAL_WRITE,
          Access.REMOTE_WRITE,
          Access.REMOTE_READ,
          Access.REMOTE_ATOMIC,
          Access.MW_BIND,
          Access.RELAXED_ORDERING);
  private static final Set<Access> FLUSHES = EnumSet.of(Access.FLUSH_GLOBAL, Access.FLUSH_PERSISTENT);

  private static final long OF_REGISTRATION =
      UmrEntry.LENGTH
          | UmrEntry.PAGE_SIZE
          | UmrEntry.START
          | UmrEntry.REMOTE_INVALIDATE
          | UmrEntry.KEY
          | UmrEntry.LOCAL_READ
          | UmrEntry.RIGHTS
          | UmrEntry.SMALL_FENCE
          | UmrEntry.FREE;
  private static final long OF_BIND = UmrEntry.LENGTH | UmrEntry.START | UmrEntry.RIGHTS;

  /** What a range of a window can say. */
  private static final long LONGEST_WINDOW = 1L << 31;

  /** Octowords of one range, as libmlx5 counts them. */
  private static final int RANGE_OCTOWORDS = 2;

  /** A key that no card gives out. */
  private static final int NO_KEY = 0xffff_ff00;

  private final ConnectxDevice device;
  private final SendQueue queue;
  private final int fence;

  UmrPosting(ConnectxDevice device, SendQueue queue) {
    this.device = device;
    this.queue = queue;
    this.fence =
        switch (device.core().capabilities().general("umr_fence")) {
          case 0 -> SendQueue.STRONG_ORDERING;
          case 1 -> SendQueue.SMALL_FENCE;
          default -> 0;
        };
  }

  /** Whether the region is ours and the rights make sense; all else is for the card to find. */
  String checkRegistration(MemoryRegion region, int key, Set<Access> access) {
    if (!(region instanceof IbFastRegion fast) || fast.device() != device || region.type() != MrType.MEM_REG) {
      return "the memory region is " + region + "; a registration needs one of type MEM_REG of this device";
    }
    if (access == null || !REGION_RIGHTS.containsAll(access)) {
      return "the rights are " + access + "; allowed are " + REGION_RIGHTS;
    }
    boolean remoteWrites = access.contains(Access.REMOTE_WRITE) || access.contains(Access.REMOTE_ATOMIC);
    if (remoteWrites && !access.contains(Access.LOCAL_WRITE)) {
      return "REMOTE_WRITE and REMOTE_ATOMIC need LOCAL_WRITE; asked for " + access;
    }
    if (Rkeys.withTag(key, 0) != Rkeys.withTag(region.lkey(), 0)) {
      return "the key 0x" + Integer.toHexString(key) + " is not one of " + region + ", whose keys are 0x"
          + Integer.toHexString(region.lkey()) + " with other lower 8 bits";
    }
    return fast.checkMapping(access.contains(Access.LOCAL_WRITE));
  }

  /** Writes the registration of what is mapped. */
  int register(MemoryRegion region, int key, Set<Access> access) {
    IbFastRegion fast = (IbFastRegion) region;
    FastMapping mapping = fast.use(key, access);
    int count = mapping.pages();
    boolean inline = count * Long.BYTES <= UmrEntry.INLINE_BYTES;
    int bytes = roundUp(count * Long.BYTES, UmrEntry.INLINE_BYTES);
    UmrEntry.begin(
        queue,
        UmrEntry.IF_FREE | (inline ? UmrEntry.INLINE : 0),
        bytes / SendQueue.SEGMENT,
        OF_REGISTRATION,
        UmrEntry.rights(access) | UmrEntry.localRead(),
        key,
        UmrEntry.ANY_QP);
    UmrEntry.domain(queue, 0, true);
    UmrEntry.range(queue, mapping.iova(), mapping.length());
    UmrEntry.pages(queue, mapping.logPage(), roundUp(count, Long.BYTES) / 2);
    if (inline) {
      UmrEntry.inlinePages(queue, mapping.list(), count);
    } else {
      UmrEntry.list(queue, mapping.listAddress(), bytes, fast.listKey());
    }
    queue.fence(fence);
    queue.expect(mapping, key);
    return key;
  }

  private static int roundUp(int value, int unit) {
    return (value + unit - 1) / unit * unit;
  }

  /** Writes that a key becomes free. */
  int invalidate(int key) {
    IbFastRegion region = device.fastRegion(key);
    if (region != null) {
      region.forget(key);
    }
    UmrEntry.begin(queue, UmrEntry.INLINE, 0, UmrEntry.FREE, UmrEntry.IS_FREE, 0, 0);
    return key;
  }

  /** Whether the window and region are ours; all else is for the card to find, when the bind's turn comes. */
  String checkBind(MemoryWindow window, MwBindInfo info, MwType bound) {
    if (!(window instanceof IbMemoryWindow mw) || mw.device() != device || mw.isDestroyed()) {
      return "the memory window is " + window + "; a bind needs one of this device that is not destroyed";
    }
    if (window.type() != bound) {
      return window + " is of type 1; it is bound by MemoryWindow.bind()";
    }
    if (info == null || (info.region() != null && !isOurs(info.region()))) {
      return "the bind names " + (info == null ? "nothing" : info.region()) + "; it needs a region of this device";
    }
    for (Access each : FLUSHES) {
      if (info.access().contains(each)) {
        return "windows with the right " + each + " are nothing that this device has";
      }
    }
    return info.length() <= LONGEST_WINDOW
        ? null
        : "a window of " + info.length() + " bytes is longer than " + LONGEST_WINDOW + ", the most the card takes";
  }

  private boolean isOurs(MemoryRegion region) {
    return (region instanceof IbMemoryRegion mr && mr.device() == device)
        || (region instanceof IbFastRegion fast && fast.device() == device);
  }

  /** Writes the bind of a window. */
  int bind(MemoryWindow window, int newKey, MwBindInfo info) {
    IbMemoryWindow mw = (IbMemoryWindow) window;
    boolean second = window.type() == MwType.TYPE_2;
    int key = Rkeys.withTag(mw.name(), newKey);
    if (info.length() == 0 && !second) {
      UmrEntry.begin(
          queue,
          UmrEntry.INLINE | UmrEntry.OFFSET,
          0,
          UmrEntry.FREE | UmrEntry.KEY,
          UmrEntry.IS_FREE,
          key,
          UmrEntry.ANY_QP);
    } else {
      UmrEntry.begin(
          queue,
          UmrEntry.INLINE | UmrEntry.OFFSET | (second ? UmrEntry.IF_FREE : 0),
          RANGE_OCTOWORDS,
          OF_BIND | UmrEntry.FREE | UmrEntry.KEY | (second ? UmrEntry.QP : 0),
          UmrEntry.rights(info.access()),
          key,
          second ? queue.number() : UmrEntry.ANY_QP);
      UmrEntry.range(queue, info.access().contains(Access.ZERO_BASED) ? 0 : info.address(), info.length());
      UmrEntry.inlineRange(queue, info.length(), allowsWindows(info) ? info.region().lkey() : NO_KEY, info.address());
    }
    queue.smallFenceNext();
    queue.expect(mw, key);
    return key;
  }

  /**
   * The card's keys do not say whether windows may be bound, nor whether they are zero based; a bind to a region that
   * does not allow it names no region, and so fails when its turn comes.
   */
  private static boolean allowsWindows(MwBindInfo info) {
    MemoryRegion region = info.region();
    Set<Access> rights = region instanceof IbFastRegion fast ? fast.rights() : region.access();
    return rights.contains(Access.MW_BIND) && !rights.contains(Access.ZERO_BASED);
  }
}
