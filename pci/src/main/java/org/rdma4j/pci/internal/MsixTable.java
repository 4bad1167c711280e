package org.rdma4j.pci.internal;

import static org.rdma4j.pci.PciRegisters.MSIX_ENABLE;
import static org.rdma4j.pci.PciRegisters.MSIX_ENTRY;
import static org.rdma4j.pci.PciRegisters.MSIX_MASKED;
import static org.rdma4j.pci.PciRegisters.MSIX_MASK_ALL;

import java.util.concurrent.atomic.AtomicIntegerArray;
import org.rdma4j.pci.MsixLayout;

/**
 * MSI-X table and pending bits of a function (PCI local bus specification 3.0 section 6.8.2). A message of a masked
 * vector stays pending and is sent when the mask goes. Sending neither blocks nor allocates.
 */
final class MsixTable {
  /** Where messages go. */
  interface Sink {
    /**
     * A write of a function to the interrupt controller.
     *
     * @param address message address
     * @param data message data
     */
    void message(long address, int data);
  }

  private static final int WORDS = MSIX_ENTRY / Integer.BYTES;
  private static final int DATA = 2;
  private static final int CONTROL = 3;

  private final MsixLayout layout;
  private final Sink sink;
  private final AtomicIntegerArray words;
  private final AtomicIntegerArray pending;
  private volatile int control;

  MsixTable(MsixLayout layout, Sink sink) {
    this.layout = layout;
    this.sink = sink;
    this.words = new AtomicIntegerArray(layout.vectors() * WORDS);
    this.pending = new AtomicIntegerArray(layout.vectors());
    reset();
  }

  static long pendingBytes(int vectors) {
    return (vectors + 63L) / 64 * Long.BYTES;
  }

  /** All vectors are masked, nothing is pending. */
  void reset() {
    control = 0;
    for (int i = 0; i < layout.vectors(); i++) {
      words.set(i * WORDS, 0);
      words.set(i * WORDS + 1, 0);
      words.set(i * WORDS + DATA, 0);
      words.set(i * WORDS + CONTROL, MSIX_MASKED);
      pending.set(i, 0);
    }
  }

  int vectors() {
    return layout.vectors();
  }

  /** The message control register was written. */
  void control(int value) {
    control = value;
    for (int i = 0; i < layout.vectors(); i++) {
      send(i);
    }
  }

  /** Whether an access to a region belongs to the table or to the pending bits. */
  boolean owns(int bar, long offset) {
    return inTable(bar, offset) || inPending(bar, offset);
  }

  private boolean inTable(int bar, long offset) {
    long at = offset - layout.tableOffset();
    return bar == layout.tableBar() && at >= 0 && at < (long) layout.vectors() * MSIX_ENTRY;
  }

  private boolean inPending(int bar, long offset) {
    long at = offset - layout.pendingOffset();
    return bar == layout.pendingBar() && at >= 0 && at < pendingBytes(layout.vectors());
  }

  int read(int bar, long offset) {
    if (inTable(bar, offset)) {
      return words.get((int) (offset - layout.tableOffset()) / Integer.BYTES);
    }
    int first = (int) (offset - layout.pendingOffset()) * Byte.SIZE;
    int bits = 0;
    for (int i = 0; i < Integer.SIZE && first + i < layout.vectors(); i++) {
      bits |= pending.get(first + i) << i;
    }
    return bits;
  }

  /** The pending bits cannot be written. */
  void write(int bar, long offset, int value) {
    if (inTable(bar, offset)) {
      int word = (int) (offset - layout.tableOffset()) / Integer.BYTES;
      words.set(word, value);
      if (word % WORDS == CONTROL) {
        send(word / WORDS);
      }
    }
  }

  /** Gives a vector its message and unmasks it, as the interrupt code of a kernel does. */
  void program(int vector, long address, int data) {
    int at = vector * WORDS;
    words.set(at, (int) address);
    words.set(at + 1, (int) (address >>> 32));
    words.set(at + DATA, data);
    words.set(at + CONTROL, 0);
    send(vector);
  }

  /** Masks a vector. */
  void mask(int vector) {
    words.set(vector * WORDS + CONTROL, MSIX_MASKED);
  }

  /** The card wants to interrupt. */
  void raise(int vector) {
    if ((control & MSIX_ENABLE) != 0) {
      pending.set(vector, 1);
      send(vector);
    }
  }

  private void send(int vector) {
    int at = vector * WORDS;
    boolean open = (control & (MSIX_ENABLE | MSIX_MASK_ALL)) == MSIX_ENABLE;
    if (open && (words.get(at + CONTROL) & MSIX_MASKED) == 0 && pending.compareAndSet(vector, 1, 0)) {
      sink.message((long) words.get(at + 1) << 32 | words.get(at) & 0xffff_ffffL, words.get(at + DATA));
    }
  }
}
