package org.rdma4j.mlx5.core.internal;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.rdma4j.mlx5.core.DmaBuffer;
import org.rdma4j.mlx5.core.DmaRange;
import org.rdma4j.mlx5.core.DoorbellRecord;
import org.rdma4j.mlx5.core.Mlx5Errno;
import org.rdma4j.mlx5.core.Mlx5Exception;
import org.rdma4j.pci.DmaDirection;
import org.rdma4j.pci.PciDevice;
import org.rdma4j.pci.PciErrno;
import org.rdma4j.pci.PciException;

/** Memory that a card reaches by DMA, for its drivers (kernel: {@code alloc.c}); what PCI refuses is theirs to read. */
final class HostMemory {
  private final PciDevice pci;
  private final DoorbellPages doorbells;

  HostMemory(PciDevice pci) {
    this.pci = pci;
    this.doorbells = new DoorbellPages(pci);
  }

  DmaBuffer allocate(long bytes) {
    try {
      return new MappedBuffer(pci.allocate(bytes));
    } catch (PciException e) {
      throw translated(e);
    }
  }

  DmaBuffer map(MemorySegment segment, boolean writable) {
    try {
      return new MappedBuffer(pci.map(segment, direction(writable)));
    } catch (PciException e) {
      throw translated(e);
    }
  }

  DmaRange map(List<MemorySegment> pieces, long pageSize, boolean writable) {
    try {
      return new MappedRange(pci.map(pieces, pageSize, direction(writable)));
    } catch (PciException e) {
      throw translated(e);
    }
  }

  DoorbellRecord allocateDoorbellRecord() {
    try {
      return doorbells.allocate();
    } catch (PciException e) {
      throw translated(e);
    }
  }

  private static DmaDirection direction(boolean writable) {
    return writable ? DmaDirection.BIDIRECTIONAL : DmaDirection.TO_DEVICE;
  }

  private static Mlx5Exception translated(PciException e) {
    Mlx5Errno errno =
        e.errno() == PciErrno.EINVAL
            ? Mlx5Errno.EINVAL
            : e.errno() == PciErrno.ENODEV ? Mlx5Errno.ENODEV : Mlx5Errno.ENOMEM;
    return new Mlx5Exception(errno, e.getMessage(), e);
  }
}
