package org.rdma4j.mlx5.ib;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.rdma4j.ib.core.verbs.ObjectContext;
import org.rdma4j.ib.core.verbs.ProtectionDomain;
import org.rdma4j.mlx5.core.CommandRequest;
import org.rdma4j.mlx5.core.MemoryKeyCommands;
import org.rdma4j.mlx5.core.ObjectCommands;
import org.rdma4j.mlx5.ifc.Opcode;

/** A protection domain of the card (kernel: {@code struct mlx5_ib_pd}). */
final class IbProtectionDomain extends ProtectionDomain {
  private final ConnectxDevice device;
  private final int number;
  private final Set<IbMemoryWindow> windows = ConcurrentHashMap.newKeySet();
  private int listKey; // 0: not made yet; this and the next guarded by this
  private boolean hasListKey;

  IbProtectionDomain(ObjectContext owner, ConnectxDevice device, int number) {
    super(owner);
    this.device = device;
    this.number = number;
  }

  int number() {
    return number;
  }

  /** The windows of the domain. */
  Set<IbMemoryWindow> windows() {
    return windows;
  }

  /**
   * The key by which the card reads the driver's own lists, made when it is first needed (kernel: the {@code
   * local_dma_lkey} of a domain). It can read DMA addresses and nothing else, and no consumer is told of it.
   */
  synchronized int listKey() {
    if (!hasListKey) {
      listKey = readKey(device, number);
      hasListKey = true;
    }
    return listKey;
  }

  /** A key on all DMA addresses, for reading. */
  static int readKey(ConnectxDevice device, int pd) {
    CommandRequest request = CommandRequest.of(Opcode.CREATE_MKEY);
    request
        .structure("memory_key_mkey_entry")
        .set("lr", 1)
        .set("qpn", UmrEntry.ANY_QP)
        .set("pd", pd)
        .set("length64", 1);
    return Errors.translated(() -> MemoryKeyCommands.create(device.core(), request));
  }

  @Override
  protected void doDestroy() {
    synchronized (this) {
      if (hasListKey) {
        hasListKey = false;
        device.giveBack("key of lists", () -> MemoryKeyCommands.destroy(device.core(), listKey));
      }
    }
    device.giveBack("protection domain", () -> ObjectCommands.freePd(device.core(), number));
  }
}
