package org.rdma4j.mlx5.device.internal;

import java.lang.foreign.MemorySegment;
import org.rdma4j.pci.DmaFault;
import org.rdma4j.pci.DmaWindow;
import org.rdma4j.pci.PciHost;

/**
 * The host as all parts of the card see it, with the faults that were injected on the way. A card that was pulled out
 * has no power; the model learns it when it wants memory, and sends nothing from then on. Safe for any thread.
 */
final class CardHost implements PciHost {
  private final PciHost host;
  private final Faults faults;
  private final Runnable whenGone;

  /**
   * Wraps a host.
   *
   * @param whenGone what happens when the card finds that it was pulled out
   */
  CardHost(PciHost host, Faults faults, Runnable whenGone) {
    this.host = host;
    this.faults = faults;
    this.whenGone = whenGone;
  }

  @Override
  public void read(long address, MemorySegment target, long at, long length) throws DmaFault {
    check(address, length, false);
    try {
      host.read(address, target, at, length);
    } catch (DmaFault e) {
      throw noted(e);
    }
  }

  @Override
  public void write(long address, MemorySegment source, long at, long length) throws DmaFault {
    check(address, length, true);
    try {
      host.write(address, source, at, length);
    } catch (DmaFault e) {
      throw noted(e);
    }
  }

  @Override
  public DmaWindow window(long address, long length, boolean write) throws DmaFault {
    check(address, length, write);
    try {
      return host.window(address, length, write);
    } catch (DmaFault e) {
      throw noted(e);
    }
  }

  private DmaFault noted(DmaFault fault) {
    if (fault.reason() == DmaFault.Reason.GONE) {
      whenGone.run();
    }
    return fault;
  }

  private void check(long address, long length, boolean write) throws DmaFault {
    if (faults.failsDma()) {
      throw new DmaFault(DmaFault.Reason.UNMAPPED, write, address, length);
    }
  }

  @Override
  public void raise(int vector) {
    if (!faults.losesInterrupt()) {
      host.raise(vector);
    }
  }
}
