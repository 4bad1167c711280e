package org.rdma4j.pci;

import java.lang.foreign.MemorySegment;
import org.osgi.annotation.versioning.ProviderType;

/** Host memory under consecutive DMA addresses. */
@ProviderType
public interface DmaWindow {
  /** {@return DMA address of the first byte; never 0} */
  long address();

  /** {@return length in bytes} */
  default long length() {
    return segment().byteSize();
  }

  /** {@return the memory} */
  MemorySegment segment();

  /** {@return who may write} */
  DmaDirection direction();
}
