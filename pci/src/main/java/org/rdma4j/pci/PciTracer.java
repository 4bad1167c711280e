package org.rdma4j.pci;

import java.lang.foreign.MemorySegment;
import org.osgi.annotation.versioning.ConsumerType;

/**
 * Sees what passes between drivers and cards, as a service of whoever wants to look; the first one counts. Without one
 * it costs nothing but the look at a field. Called by whoever does what is seen, also several threads at once; must not
 * block, throw, or do any of it itself. Memory is only to be looked at during the call.
 */
@ConsumerType
public interface PciTracer {
  /**
   * A driver writes configuration space, as far as the function is there.
   *
   * @param function whose
   * @param offset 0 to 4095
   * @param width 1, 2 or 4 bytes
   * @param value the value
   */
  default void configWrite(PciAddress function, int offset, int width, int value) {}

  /**
   * A driver has read a register.
   *
   * @param function of which function
   * @param bar number of the region
   * @param offset byte offset in it
   * @param value the bytes in the order of PCI, the first one lowest
   */
  default void registerRead(PciAddress function, int bar, long offset, int value) {}

  /**
   * A driver writes a register.
   *
   * @param function of which function
   * @param bar number of the region
   * @param offset byte offset in it
   * @param width 4 or 8 bytes
   * @param value the bytes in the order of PCI, the first one lowest
   */
  default void registerWrite(PciAddress function, int bar, long offset, int width, long value) {}

  /**
   * A driver writes a block of registers at once.
   *
   * @param function of which function
   * @param bar number of the region
   * @param offset byte offset in it
   * @param source memory with the bytes
   * @param from where in that memory
   * @param length bytes
   */
  default void registerWrite(
      PciAddress function, int bar, long offset, MemorySegment source, long from, int length) {}

  /**
   * A card reads or writes memory of the host, or asks where it is to do so in place; a fault comes after this.
   *
   * @param function of which function
   * @param write whether it writes
   * @param address DMA address of the first byte
   * @param length bytes
   */
  default void dma(PciAddress function, boolean write, long address, long length) {}

  /**
   * A card sends the message of a vector; while that is masked it waits.
   *
   * @param function of which function
   * @param vector index in the MSI-X table
   */
  default void interrupt(PciAddress function, int vector) {}
}
