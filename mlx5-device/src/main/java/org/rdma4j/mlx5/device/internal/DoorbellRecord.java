package org.rdma4j.mlx5.device.internal;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import org.rdma4j.pci.DmaFault;
import org.rdma4j.pci.PciHost;

/** Two words in host memory in which the driver counts what it has posted. Engine thread. */
final class DoorbellRecord {
  static final int RECEIVE = 0;
  static final int SEND = 4;
  private static final ValueLayout.OfInt DWORD = ValueLayout.JAVA_INT.withOrder(ByteOrder.BIG_ENDIAN);
  private static final int COUNT_MASK = 0xffff;

  private final PciHost host;
  private final long address;
  private final MemorySegment word = Arena.ofAuto().allocate(Long.BYTES, Long.BYTES);

  DoorbellRecord(PciHost host, long address) {
    this.host = host;
    this.address = address;
  }

  /** A counter of 16 bits; what was posted before it is seen after this. */
  int read(int which) throws DmaFault {
    host.read(address + which, word, 0, Integer.BYTES);
    VarHandle.acquireFence();
    return word.get(DWORD, 0) & COUNT_MASK;
  }
}
