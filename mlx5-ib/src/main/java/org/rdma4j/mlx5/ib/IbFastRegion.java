package org.rdma4j.mlx5.ib;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import org.rdma4j.ib.core.verbs.Access;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.MemoryRegion;
import org.rdma4j.ib.core.verbs.MrMapping;
import org.rdma4j.ib.core.verbs.ObjectContext;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.mlx5.core.CommandRequest;
import org.rdma4j.mlx5.core.DmaBuffer;
import org.rdma4j.mlx5.core.DmaRange;
import org.rdma4j.mlx5.core.MemoryKeyCommands;
import org.rdma4j.mlx5.ifc.Opcode;

/**
 * A region for fast registration (kernel: {@code mr.c:mlx5_ib_alloc_mr, mlx5_ib_map_mr_sg}): a key with room for
 * translations, free until a request on a queue pair fills it.
 */
final class IbFastRegion extends MemoryRegion {
  private static final int MODE_PAGES = 1;
  private static final int LOG_PAGE = 12;
  private static final int LIST_UNIT = 64;

  private final ConnectxDevice device;
  private final IbProtectionDomain domain;
  private final int name;
  private final int listKey;
  private final int listBytes;
  private final List<FastMapping> retired = new ArrayList<>(); // this and the next: control path
  private final Deque<DmaBuffer> lists = new ArrayDeque<>();
  private volatile FastMapping mapped; // what the next registration takes
  private volatile FastMapping registered; // what the card had registered last, as far as completions tell
  private volatile FastMapping posted; // this and the next two: what was posted last, for inline data and binds
  private volatile int postedKey;
  private volatile Set<Access> postedRights = Set.of();

  private IbFastRegion(
      ObjectContext owner, ConnectxDevice device, IbProtectionDomain domain, int key, int listKey, int listBytes) {
    super(owner, key, key);
    this.device = device;
    this.domain = domain;
    this.name = key;
    this.listKey = listKey;
    this.listBytes = listBytes;
  }

  static IbFastRegion allocate(ObjectContext owner, ConnectxDevice device, int maxPages) {
    IbProtectionDomain domain = (IbProtectionDomain) owner.protectionDomain();
    int listKey = domain.listKey();
    int listBytes = (maxPages * Long.BYTES + LIST_UNIT - 1) / LIST_UNIT * LIST_UNIT;
    CommandRequest request = CommandRequest.of(Opcode.CREATE_MKEY);
    request
        .structure("memory_key_mkey_entry")
        .set("free", 1)
        .set("access_mode_1_0", MODE_PAGES)
        .set("umr_en", 1)
        .set("qpn", UmrEntry.ANY_QP)
        .set("pd", domain.number())
        .set("translations_octword_size", listBytes / SendQueue.SEGMENT)
        .set("log_page_size", LOG_PAGE);
    int key = Errors.translated(() -> MemoryKeyCommands.create(device.core(), request));
    boolean made = false;
    try {
      IbFastRegion region = new IbFastRegion(owner, device, domain, key, listKey, listBytes);
      device.fastRegions().put(key >>> Byte.SIZE, region);
      made = true;
      return region;
    } finally {
      if (!made) {
        device.giveBack("memory key", () -> MemoryKeyCommands.destroy(device.core(), key));
      }
    }
  }

  ConnectxDevice device() {
    return device;
  }

  /** The key by which the card reads lists of pages. */
  int listKey() {
    return listKey;
  }

  /** The rights that were posted last. */
  Set<Access> rights() {
    return postedRights;
  }

  String checkMapping(boolean writes) {
    FastMapping now = mapped;
    if (now == null) {
      return "nothing is mapped to " + this;
    }
    return writes && now.isReadOnly() ? "read-only memory is mapped to " + this + "; it cannot be written" : null;
  }

  /**
   * What a registration that is being posted takes.
   *
   * @throws VerbsException EINVAL when the region has been destroyed since it was checked
   */
  FastMapping use(int key, Set<Access> access) {
    FastMapping now = mapped;
    while (now != null && !now.use()) {
      now = mapped;
    }
    if (now == null) {
      throw new VerbsException(Errno.EINVAL, this + " is destroyed");
    }
    postedKey = key;
    postedRights = access;
    posted = now;
    return now;
  }

  /** Mappings that the card may still look at. Control path. */
  int mappings() {
    return retired.size() + (mapped == null ? 0 : 1);
  }

  void registered(FastMapping mapping) {
    registered = mapping;
  }

  /** A local invalidate is posted. */
  void forget(int key) {
    if (postedKey == key) {
      posted = null;
    }
  }

  /** Inline data by address and key; false when it is not inside of what was posted last. */
  boolean inline(SendQueue queue, int key, long address, int count) {
    FastMapping last = posted;
    return last != null && postedKey == key && last.inline(queue, address, count);
  }

  @Override
  protected void doMap(MrMapping memory) {
    boolean readOnly = memory.pieces().stream().anyMatch(piece -> piece.isReadOnly());
    DmaRange range =
        Errors.translated(() -> device.core().map(memory.pieces(), memory.pageSize(), !readOnly));
    DmaBuffer list = null;
    boolean made = false;
    try {
      DmaBuffer kept = lists.poll();
      list = kept == null ? Errors.translated(() -> device.core().allocate(listBytes)) : kept;
      FastMapping next = new FastMapping(this, memory, range, list, readOnly);
      made = true;
      FastMapping old = mapped;
      mapped = next;
      if (old != null) {
        retired.add(old);
      }
      retired.removeIf(this::isOver);
    } finally {
      if (!made) {
        range.close();
        if (list != null) {
          list.close();
        }
      }
    }
  }

  private boolean isOver(FastMapping mapping) {
    if (mapping == registered) {
      return false;
    }
    DmaBuffer list = mapping.closeIfIdle();
    if (list == null) {
      return false;
    }
    lists.add(list);
    return true;
  }

  @Override
  protected void doDestroy() {
    BoundWindows.end(device, domain, this, name);
    device.fastRegions().remove(name >>> Byte.SIZE, this);
    FastMapping last = mapped;
    mapped = null;
    posted = null;
    if (last != null) {
      retired.add(last);
    }
    retired.forEach(mapping -> lists.add(mapping.close()));
    retired.clear();
    lists.forEach(DmaBuffer::close);
    lists.clear();
  }
}
