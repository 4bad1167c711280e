package org.rdma4j.pci;

import java.lang.foreign.MemorySegment;
import org.osgi.annotation.versioning.ProviderType;

/**
 * A memory region of a function, mapped by its driver ({@code pci_iomap}, {@code ioread32}). After surprise removal,
 * with memory decoding off or in a low-power state reads give all ones and writes are lost, as on real hardware. Safe
 * for any thread. Offsets that do not lie inside, or are not aligned, are an {@code EINVAL}.
 */
@ProviderType
public interface Bar {
  /** {@return length in bytes} */
  long length();

  /**
   * Reads four bytes in the byte order of PCI.
   *
   * @param offset a multiple of 4
   * @return the bytes, the first one lowest
   */
  int read(long offset);

  /**
   * Writes four bytes in the byte order of PCI.
   *
   * @param offset a multiple of 4
   * @param value the bytes, the first one lowest
   */
  void write(long offset, int value);

  /**
   * Writes eight bytes at once.
   *
   * @param offset a multiple of 8
   * @param value the bytes, the first one lowest
   */
  void write(long offset, long value);

  /**
   * Writes a block at once, as write combining does.
   *
   * @param offset a multiple of 8
   * @param source memory with the bytes
   * @param from where in that memory
   * @param length bytes, a multiple of 8
   */
  void write(long offset, MemorySegment source, long from, int length);

  /**
   * Reads a register of a big-endian card ({@code ioread32be}).
   *
   * @param offset a multiple of 4
   * @return the value
   */
  default int readBigEndian(long offset) {
    return Integer.reverseBytes(read(offset));
  }

  /**
   * Writes a register of a big-endian card ({@code iowrite32be}).
   *
   * @param offset a multiple of 4
   * @param value the value
   */
  default void writeBigEndian(long offset, int value) {
    write(offset, Integer.reverseBytes(value));
  }

  /**
   * Writes a 64-bit register of a big-endian card.
   *
   * @param offset a multiple of 8
   * @param value the value
   */
  default void writeBigEndian(long offset, long value) {
    write(offset, Long.reverseBytes(value));
  }
}
