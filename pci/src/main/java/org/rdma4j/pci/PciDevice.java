package org.rdma4j.pci;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.osgi.annotation.versioning.ProviderType;

/**
 * A function in the hands of its driver ({@code struct pci_dev}), from probe to remove. Whatever the driver takes here
 * it gives back; calls after {@code remove} are an {@code ENODEV}. Safe for any thread.
 */
@ProviderType
public interface PciDevice extends PciFunction {
  /**
   * Wakes the function and turns memory decoding on ({@code pci_enable_device}).
   *
   * @throws PciException EIO when it does not answer
   */
  void enable();

  /** Turns bus mastering and memory decoding off ({@code pci_disable_device}). */
  void disable();

  /**
   * Allows the function to use DMA and interrupts, or forbids it ({@code pci_set_master}).
   *
   * @param on whether it may
   */
  void setMaster(boolean on);

  /**
   * Says how many address bits the function has ({@code dma_set_mask_and_coherent}); later mappings keep to it.
   *
   * @param bits 32 to 64
   * @throws PciException EINVAL for other values
   */
  void setDmaMask(int bits);

  /**
   * Maps a region.
   *
   * @param number number of its first base address register
   * @return the region
   * @throws PciException EINVAL when the function has no such region
   */
  Bar bar(int number);

  /**
   * Allocates zeroed memory that both sides use ({@code dma_alloc_coherent}).
   *
   * @param length bytes, at least 1
   * @return the memory; its DMA address is a multiple of 4096 and of the length rounded up to a power of two, to 2 MiB
   * @throws PciException EINVAL, ENOMEM when no addresses are left under the mask
   */
  DmaMapping allocate(long length);

  /**
   * Gives memory to the function ({@code dma_map_single}). The low 12 bits of the DMA address are those of the memory.
   *
   * @param segment native memory that any thread may use
   * @param direction who writes
   * @return the mapping
   * @throws PciException EINVAL for memory of the heap, of one thread only or of no length; ENOMEM when no addresses
   *     are left under the mask
   */
  DmaMapping map(MemorySegment segment, DmaDirection direction);

  /**
   * Gives pieces of memory to the function as one ({@code dma_map_sgtable}): the DMA addresses of a piece go on where
   * those of the piece before it end. A page of the bus is one page of memory, so every piece but the first begins with
   * a page and every one but the last ends with one, or goes on in memory where the piece before it ended.
   *
   * @param pieces native memory that any thread may use; at least one piece
   * @param pageSize a power of two of at least 4096: the place of the first byte in such a page is kept
   * @param direction who writes
   * @return the mapping
   * @throws PciException EINVAL for memory of the heap, of one thread only or of no length, and for pieces that do not
   *     fit together; ENOMEM when no addresses are left under the mask
   */
  DmaScatter map(List<MemorySegment> pieces, long pageSize, DmaDirection direction);

  /**
   * Turns MSI-X on ({@code pci_alloc_irq_vectors}).
   *
   * @param least vectors needed, at least 1
   * @param most vectors wanted
   * @return vectors there are now
   * @throws PciException ENOTSUP without MSI-X, ENOSPC when there are fewer, EBUSY when it is on already
   */
  int allocateVectors(int least, int most);

  /**
   * The calling thread waits for the function in a loop that looks at memory, and has nothing else to do: where a
   * driver in C has {@code cpu_relax()}. A card that is a program may get on with its work meanwhile, on this thread;
   * so the caller holds nothing that the card's work or an interrupt handler could want. Drivers that never call this
   * work as well. Neither waits nor allocates, and does nothing when the function is gone.
   *
   * @return whether something was done, so that it is worthwhile to look again
   */
  boolean relax();

  /**
   * Connects a vector to a handler ({@code request_irq}).
   *
   * @param vector the vector, from 0
   * @param name what it is for, as {@code mlx5_comp0}
   * @param handler the handler
   * @throws PciException EINVAL when it was not allocated, EBUSY when it has a handler
   */
  default void requestIrq(int vector, String name, IrqHandler handler) {
    requestIrq(vector, vector, name, handler);
  }

  /**
   * Connects a vector to a handler that a processor runs ({@code irq_set_affinity_and_hint}).
   *
   * @param vector the vector
   * @param processor wanted processor, at least 0; counted round when there are fewer
   * @param name what it is for, as {@code mlx5_comp0}
   * @param handler the handler
   * @throws PciException EINVAL when it was not allocated, EBUSY when it has a handler
   */
  void requestIrq(int vector, int processor, String name, IrqHandler handler);

  /**
   * Tells which processor runs the handler of a vector.
   *
   * @param vector the vector
   * @return the processor, from 0
   * @throws PciException EINVAL when it has no handler
   */
  int processor(int vector);

  /**
   * Disconnects a vector; returns when its handler is not running ({@code free_irq}). Does nothing without a handler.
   *
   * @param vector the vector
   * @throws PciException EDEADLK from the handler itself
   */
  void freeIrq(int vector);

  /**
   * Turns MSI-X off ({@code pci_free_irq_vectors}).
   *
   * @throws PciException EBUSY when a vector has a handler
   */
  void freeVectors();

  /**
   * Resets the function and gives it its configuration back ({@code pci_reset_function}).
   *
   * @throws PciException EIO when it does not answer
   */
  void reset();
}
