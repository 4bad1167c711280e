package org.rdma4j.mlx5.device.internal;

import java.lang.foreign.MemorySegment;
import org.rdma4j.pci.DmaFault;
import org.rdma4j.pci.DmaWindow;
import org.rdma4j.pci.PciHost;

/** The host as all parts of the card see it, with the faults that were injected on the way. Safe for any thread. */
final class CardHost implements PciHost {
  private final PciHost host;
  private final Faults faults;

  CardHost(PciHost host, Faults faults) {
    this.host = host;
    this.faults = faults;
  }

  @Override
  public void read(long address, MemorySegment target, long at, long length) throws DmaFault {
    check(address, length, false);
    host.read(address, target, at, length);
  }

  @Override
  public void write(long address, MemorySegment source, long at, long length) throws DmaFault {
    check(address, length, true);
    host.write(address, source, at, length);
  }

  @Override
  public DmaWindow window(long address, long length, boolean write) throws DmaFault {
    check(address, length, write);
    return host.window(address, length, write);
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
