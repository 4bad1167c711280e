package org.rdma4j.pci;

import java.lang.foreign.MemorySegment;
import org.osgi.annotation.versioning.ProviderType;

/**
 * The host as a card sees it: memory by DMA address, and interrupts. Safe for any thread; nothing here allocates but a
 * {@link DmaFault}.
 */
@ProviderType
public interface PciHost {
  /**
   * Copies from host memory.
   *
   * @param address DMA address of the first byte
   * @param target where to
   * @param at where in {@code target}
   * @param length bytes, at least 0
   * @throws DmaFault when the driver has not given all of it to the card for reading
   */
  void read(long address, MemorySegment target, long at, long length) throws DmaFault;

  /**
   * Copies to host memory.
   *
   * @param address DMA address of the first byte
   * @param source where from
   * @param at where in {@code source}
   * @param length bytes, at least 0
   * @throws DmaFault when the driver has not given all of it to the card for writing
   */
  void write(long address, MemorySegment source, long at, long length) throws DmaFault;

  /**
   * Finds the mapping that an access lies in, for cards that work in place. The window is good for this access: the
   * driver may close the mapping at any time.
   *
   * @param address DMA address of the first byte
   * @param length bytes, at least 1
   * @param write whether the card writes
   * @return the window that has all of the bytes
   * @throws DmaFault when no single mapping has all of them, or it does not allow the direction
   */
  DmaWindow window(long address, long length, boolean write) throws DmaFault;

  /**
   * Sends the message of a vector, if MSI-X is on; while the vector is masked it stays pending. Never blocks.
   *
   * @param vector index in the MSI-X table
   */
  void raise(int vector);
}
