package org.rdma4j.pci.internal;

import org.rdma4j.pci.PciErrno;
import org.rdma4j.pci.PciException;
import org.rdma4j.pci.PciRegisters;

/**
 * Configuration space of a function: bytes, which of their bits can be written, and which are cleared by writing 1.
 * Little-endian, as PCI is. Safe for any thread.
 */
final class ConfigSpace {
  private final byte[] values = new byte[PciRegisters.SIZE];
  private final byte[] writable = new byte[PciRegisters.SIZE];
  private final byte[] clearable = new byte[PciRegisters.SIZE];

  synchronized int read(int offset, int width) {
    check(offset, width);
    return get(values, offset, width);
  }

  /** Writes as software does: read-only bits keep their value. */
  synchronized void write(int offset, int width, int value) {
    check(offset, width);
    for (int i = 0; i < width; i++) {
      int bits = value >>> (8 * i) & 0xff;
      int at = offset + i;
      int kept = values[at] & ~writable[at] & ~(bits & clearable[at]);
      values[at] = (byte) (kept | bits & writable[at]);
    }
  }

  /** Sets a register as the hardware does, whatever software may write. */
  synchronized void set(int offset, int width, int value) {
    put(values, offset, width, value);
  }

  /** Sets bits as the hardware does. */
  synchronized void raise(int offset, int bits) {
    put(values, offset, 2, get(values, offset, 2) | bits);
  }

  /** Makes a register with bits that software can write. */
  void define(int offset, int width, int value, int writableBits) {
    put(values, offset, width, value);
    put(writable, offset, width, writableBits);
  }

  /** Makes bits that writing 1 clears. */
  void defineClearable(int offset, int width, int bits) {
    put(clearable, offset, width, bits);
  }

  /** {@return a copy of all bytes} */
  synchronized byte[] save() {
    return values.clone();
  }

  /** Takes all bytes from a copy. */
  synchronized void restore(byte[] saved) {
    System.arraycopy(saved, 0, values, 0, values.length);
  }

  static void check(int offset, int width) {
    boolean fits = width == 1 || width == 2 || width == 4;
    if (!fits || offset < 0 || offset > PciRegisters.SIZE - width || offset % width != 0) {
      throw new PciException(
          PciErrno.EINVAL,
          "configuration space at %d, %d bytes: allowed are 1, 2 or 4 bytes at their multiples up to %d"
              .formatted(offset, width, PciRegisters.SIZE));
    }
  }

  private static int get(byte[] from, int offset, int width) {
    int value = 0;
    for (int i = width - 1; i >= 0; i--) {
      value = value << 8 | from[offset + i] & 0xff;
    }
    return value;
  }

  private static void put(byte[] to, int offset, int width, int value) {
    for (int i = 0; i < width; i++) {
      to[offset + i] = (byte) (value >>> (8 * i));
    }
  }
}
