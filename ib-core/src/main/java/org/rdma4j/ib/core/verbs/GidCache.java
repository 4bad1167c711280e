package org.rdma4j.ib.core.verbs;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.rdma4j.roce.address.Gid;

/**
 * The GID table of a port ({@code cache.c}). The first slots of a RoCE port, one per type, are kept for default GIDs. A
 * deleted entry that a queue pair or address handle still holds keeps its slot, invisible, until the last lets go. The
 * provider is told before an entry appears and after it has gone; it is never called under the lock.
 */
final class GidCache implements GidTable {
  /** A use of an entry. */
  final class Hold {
    private final Slot slot;
    private boolean released;

    private Hold(Slot slot) {
      this.slot = slot;
    }

    GidEntry entry() {
      return slot.entry;
    }

    void release() {
      synchronized (lock) {
        if (!released) {
          released = true;
          slot.holds--;
          freeLocked(slot);
        }
      }
    }
  }

  private static final class Slot {
    private final GidEntry entry;
    private boolean valid;
    private boolean pending = true;
    private int holds;

    Slot(GidEntry entry) {
      this.entry = entry;
    }
  }

  private final Object lock = new Object();
  private final IbDevice provider;
  private final int port;
  private final List<GidType> defaultTypes;
  private final Slot[] slots;

  GidCache(IbDevice provider, int port, int length, List<GidType> defaultTypes) {
    this.provider = provider;
    this.port = port;
    this.defaultTypes = defaultTypes;
    this.slots = new Slot[length];
  }

  /**
   * Adds an entry.
   *
   * @param isDefault true for the slot kept for the default GID of the type, which no other uses
   * @return the new entry, or null where the same is there already
   * @throws VerbsException EINVAL for a zero GID, ENOSPC without a free slot, and what the provider throws; the slot
   *     stays free
   */
  GidEntry add(Gid gid, GidType type, String netdev, boolean isDefault) {
    if (gid.isZero()) {
      throw new VerbsException(Errno.EINVAL, "a zero GID cannot be added to port " + port);
    }
    Slot slot;
    synchronized (lock) {
      if (find(gid, type, netdev, isDefault) != null) {
        return null;
      }
      int index = freeSlot(type, isDefault);
      slot = new Slot(new GidEntry(port, index, gid, type, netdev));
      slots[index] = slot;
    }
    boolean added = false;
    try {
      provider.tracedRun("add_gid", slot.entry.gid(), () -> provider.addGid(slot.entry));
      added = true;
    } finally {
      synchronized (lock) {
        slot.pending = false;
        slot.valid = added;
        freeLocked(slot);
      }
    }
    return slot.entry;
  }

  /** Deletes an entry; null where there is no such. */
  GidEntry remove(Gid gid, GidType type, String netdev, boolean isDefault) {
    Slot slot;
    synchronized (lock) {
      slot = find(gid, type, netdev, isDefault);
      if (slot == null || !slot.valid) {
        return null;
      }
      slot.valid = false;
      slot.pending = true;
    }
    try {
      provider.tracedRun("del_gid", slot.entry.gid(), () -> provider.removeGid(slot.entry));
    } finally {
      synchronized (lock) {
        slot.pending = false;
        freeLocked(slot);
      }
    }
    return slot.entry;
  }

  /** Deletes an entry that was listed. */
  void remove(GidEntry entry) {
    remove(entry.gid(), entry.type(), entry.netdev(), entry.index() < defaultTypes.size());
  }

  /** Takes hold of the entry in a slot, or fails with EINVAL. */
  Hold hold(int index, String who) {
    synchronized (lock) {
      Slot slot = index >= 0 && index < slots.length ? slots[index] : null;
      if (slot == null || !slot.valid) {
        throw new VerbsException(
            Errno.EINVAL,
            "sgid_index " + index + " for " + who + " names no GID of port " + port + "; there are " + entries());
      }
      slot.holds++;
      return new Hold(slot);
    }
  }

  List<GidType> defaultTypes() {
    return defaultTypes;
  }

  @Override
  public int size() {
    return slots.length;
  }

  @Override
  public GidEntry entry(int index) {
    synchronized (lock) {
      Slot slot = index >= 0 && index < slots.length ? slots[index] : null;
      return slot != null && slot.valid ? slot.entry : null;
    }
  }

  @Override
  public GidEntry find(Gid gid) {
    return entries().stream().filter(each -> each.gid().equals(gid)).findFirst().orElse(null);
  }

  @Override
  public List<GidEntry> entries() {
    List<GidEntry> found = new ArrayList<>();
    synchronized (lock) {
      Arrays.stream(slots).filter(each -> each != null && each.valid).forEach(each -> found.add(each.entry));
    }
    return found;
  }

  private Slot find(Gid gid, GidType type, String netdev, boolean isDefault) {
    int end = isDefault ? defaultTypes.size() : slots.length;
    for (int i = isDefault ? 0 : defaultTypes.size(); i < end; i++) {
      Slot slot = slots[i];
      if (slot != null
          && (slot.valid || slot.pending)
          && slot.entry.gid().equals(gid)
          && slot.entry.type() == type
          && Objects.equals(slot.entry.netdev(), netdev)) {
        return slot;
      }
    }
    return null;
  }

  private int freeSlot(GidType type, boolean isDefault) {
    int end = isDefault ? defaultTypes.indexOf(type) + 1 : slots.length;
    for (int i = isDefault ? defaultTypes.indexOf(type) : defaultTypes.size(); i >= 0 && i < end; i++) {
      if (slots[i] == null) {
        return i;
      }
    }
    throw new VerbsException(Errno.ENOSPC, "the GID table of port " + port + " has no free slot of " + slots.length);
  }

  private void freeLocked(Slot slot) {
    if (!slot.valid && !slot.pending && slot.holds == 0) {
      slots[slot.entry.index()] = null;
    }
  }
}
