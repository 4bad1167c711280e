package org.rdma4j.mlx5.ib;

import org.rdma4j.ib.core.verbs.MemoryWindow;
import org.rdma4j.ib.core.verbs.MwBindInfo;
import org.rdma4j.ib.core.verbs.MwType;
import org.rdma4j.ib.core.verbs.ObjectContext;
import org.rdma4j.ib.core.verbs.QueuePair;
import org.rdma4j.ib.core.verbs.Rkeys;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.mlx5.core.CommandRequest;
import org.rdma4j.mlx5.core.MemoryKeyCommands;
import org.rdma4j.mlx5.ifc.Opcode;

/**
 * A memory window (kernel: {@code mr.c:mlx5_ib_alloc_mw}): a free key on a range of another, which the card fills when
 * it executes a bind.
 */
final class IbMemoryWindow extends MemoryWindow implements LocalWork {
  private static final int MODE_RANGES = 2;
  private static final int ROOM = 4;

  private final ConnectxDevice device;
  private final IbProtectionDomain domain;
  private final int name;
  private int lastKey; // of the last bind posted, type 1 only; control path
  private volatile int key;
  private volatile boolean destroyed;

  private IbMemoryWindow(
      ObjectContext owner, ConnectxDevice device, IbProtectionDomain domain, MwType type, int key) {
    super(owner, type);
    this.device = device;
    this.domain = domain;
    this.name = key;
    this.lastKey = key;
    this.key = key;
  }

  static IbMemoryWindow allocate(ObjectContext owner, ConnectxDevice device, MwType type) {
    IbProtectionDomain domain = (IbProtectionDomain) owner.protectionDomain();
    CommandRequest request = CommandRequest.of(Opcode.CREATE_MKEY);
    request
        .structure("memory_key_mkey_entry")
        .set("free", 1)
        .set("access_mode_1_0", MODE_RANGES)
        .set("umr_en", 1)
        .set("lr", 1)
        .set("en_rinval", type == MwType.TYPE_2 ? 1 : 0)
        .set("qpn", UmrEntry.ANY_QP)
        .set("pd", domain.number())
        .set("translations_octword_size", ROOM);
    int key = Errors.translated(() -> MemoryKeyCommands.create(device.core(), request));
    boolean made = false;
    try {
      IbMemoryWindow window = new IbMemoryWindow(owner, device, domain, type, key);
      domain.windows().add(window);
      made = true;
      return window;
    } finally {
      if (!made) {
        device.giveBack("memory window", () -> MemoryKeyCommands.destroy(device.core(), key));
      }
    }
  }

  ConnectxDevice device() {
    return device;
  }

  /** The key that it was made with. */
  int name() {
    return name;
  }

  boolean isDestroyed() {
    return destroyed;
  }

  @Override
  public int rkey() {
    return key;
  }

  @Override
  public void done(int now, boolean success) {
    if (success) {
      key = now;
    }
  }

  @Override
  protected int doBind(QueuePair qp, long wrId, int flags, MwBindInfo info) {
    int next = Rkeys.increment(lastKey);
    ((IbQueuePair) qp).postBind(new SendWorkRequest().wrId(wrId).flags(flags).bindMw(this, next, info));
    lastKey = next;
    return next;
  }

  @Override
  protected void doDestroy() {
    destroyed = true;
    domain.windows().remove(this);
    device.giveBack("memory window", () -> MemoryKeyCommands.destroy(device.core(), name));
  }
}
