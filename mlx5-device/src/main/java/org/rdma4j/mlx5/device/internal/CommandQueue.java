package org.rdma4j.mlx5.device.internal;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import org.rdma4j.mlx5.ifc.DeliveryStatus;
import org.rdma4j.mlx5.ifc.Field;
import org.rdma4j.mlx5.ifc.Layouts;
import org.rdma4j.pci.DmaFault;
import org.rdma4j.pci.PciHost;

/**
 * The command queue in host memory: fetches an entry with its input mailboxes, and brings the output back. What cannot
 * be delivered is answered with a delivery status in the entry; what cannot even be answered is forgotten.
 */
final class CommandQueue {
  private static final int TYPE_PCI = 7;
  private static final int INLINE = 16;
  private static final int BLOCK_DATA = 512;
  private static final int BLOCK_ALIGNMENT = 512;
  private static final int LONGEST = 1 << 20;
  private static final int CONTROL_FIRST = 0x200;
  private static final int CONTROL_LAST = 0x23e;

  private static final Field TYPE = Layouts.CMD_QUEUE_ENTRY.field("type");
  private static final Field INPUT_LENGTH = Layouts.CMD_QUEUE_ENTRY.field("input_length");
  private static final Field INPUT_MAILBOX = Layouts.CMD_QUEUE_ENTRY.field("input_mailbox");
  private static final Field INPUT_INLINE = Layouts.CMD_QUEUE_ENTRY.field("input_inline");
  private static final Field OUTPUT_INLINE = Layouts.CMD_QUEUE_ENTRY.field("output_inline");
  private static final Field OUTPUT_MAILBOX = Layouts.CMD_QUEUE_ENTRY.field("output_mailbox");
  private static final Field OUTPUT_LENGTH = Layouts.CMD_QUEUE_ENTRY.field("output_length");
  private static final Field TOKEN = Layouts.CMD_QUEUE_ENTRY.field("token");
  private static final Field SIGNATURE = Layouts.CMD_QUEUE_ENTRY.field("signature");
  private static final Field STATUS = Layouts.CMD_QUEUE_ENTRY.field("delivery_status");
  private static final Field OWNERSHIP = Layouts.CMD_QUEUE_ENTRY.field("ownership");
  private static final Field NEXT = Layouts.CMD_MAILBOX.field("next");
  private static final Field BLOCK_NUMBER = Layouts.CMD_MAILBOX.field("block_number");
  private static final Field BLOCK_TOKEN = Layouts.CMD_MAILBOX.field("token");
  private static final Field CONTROL_SIGNATURE = Layouts.CMD_MAILBOX.field("ctrl_signature");
  private static final Field BLOCK_SIGNATURE = Layouts.CMD_MAILBOX.field("signature");
  private static final int ENTRY = (int) Layouts.CMD_QUEUE_ENTRY.size();
  private static final int BLOCK = (int) Layouts.CMD_MAILBOX.size();

  /** What could not be delivered, and why. */
  static final class NotDelivered extends Exception {
    private static final long serialVersionUID = 1;
    private final DeliveryStatus status;

    NotDelivered(DeliveryStatus status) {
      super(status.name(), null, false, false);
      this.status = status;
    }

    DeliveryStatus status() {
      return status;
    }
  }

  private final PciHost host;
  private final MemorySegment entry = Arena.ofAuto().allocate(ENTRY, Long.BYTES);
  private final MemorySegment block = Arena.ofAuto().allocate(BLOCK, Long.BYTES);

  CommandQueue(PciHost host) {
    this.host = host;
  }

  /** Reads the entry at an address; false when it does not belong to the card. */
  boolean fetch(long address) throws DmaFault {
    host.read(address, entry, 0, ENTRY);
    return OWNERSHIP.isSet(entry, 0);
  }

  /** Input and output of the entry that was fetched. */
  CommandCall open(boolean signatures) throws DmaFault, NotDelivered {
    if (TYPE.get(entry, 0) != TYPE_PCI) {
      throw new NotDelivered(DeliveryStatus.DESCRIPTOR_TYPE);
    }
    if (signatures && xor(entry, 0, ENTRY) != 0xff) {
      throw new NotDelivered(DeliveryStatus.SIGNATURE);
    }
    int inputLength = INPUT_LENGTH.get(entry, 0);
    int outputLength = OUTPUT_LENGTH.get(entry, 0);
    if (inputLength < Long.BYTES || inputLength > LONGEST) {
      throw new NotDelivered(DeliveryStatus.INPUT_LENGTH);
    }
    if (outputLength < Long.BYTES || outputLength > LONGEST) {
      throw new NotDelivered(DeliveryStatus.OUTPUT_LENGTH);
    }
    MemorySegment input = Arena.ofAuto().allocate(Math.max(inputLength, INLINE), Long.BYTES);
    MemorySegment.copy(entry, INPUT_INLINE.offset(), input, 0, INLINE);
    gather(input, inputLength, signatures);
    checkOutput(outputLength);
    MemorySegment output = Arena.ofAuto().allocate(Math.max(outputLength, INLINE), Long.BYTES);
    return new CommandCall(input.asSlice(0, inputLength), output.asSlice(0, outputLength));
  }

  private void gather(MemorySegment input, int length, boolean signatures) throws DmaFault, NotDelivered {
    long next = INPUT_MAILBOX.getLong(entry, 0);
    for (int done = INLINE, number = 0; done < length; done += BLOCK_DATA, number++) {
      read(next, number, DeliveryStatus.INPUT_POINTER);
      if (signatures && !isSigned()) {
        throw new NotDelivered(DeliveryStatus.SIGNATURE);
      }
      MemorySegment.copy(block, 0, input, done, Math.min(BLOCK_DATA, length - done));
      next = NEXT.getLong(block, 0);
    }
  }

  /** The chain for the output is looked at before the command runs: an answer that has no place loses nothing. */
  private void checkOutput(int length) throws DmaFault, NotDelivered {
    long next = OUTPUT_MAILBOX.getLong(entry, 0);
    for (int done = INLINE, number = 0; done < length; done += BLOCK_DATA, number++) {
      read(next, number, DeliveryStatus.OUTPUT_POINTER);
      next = NEXT.getLong(block, 0);
    }
  }

  private void read(long address, int number, DeliveryStatus wrongPointer) throws DmaFault, NotDelivered {
    if (address == 0 || address % BLOCK_ALIGNMENT != 0) {
      throw new NotDelivered(wrongPointer);
    }
    host.read(address, block, 0, BLOCK);
    if (BLOCK_TOKEN.get(block, 0) != TOKEN.get(entry, 0)) {
      throw new NotDelivered(DeliveryStatus.TOKEN);
    }
    if (BLOCK_NUMBER.get(block, 0) != number) {
      throw new NotDelivered(DeliveryStatus.BLOCK_NUMBER);
    }
  }

  private boolean isSigned() {
    return xor(block, CONTROL_FIRST, CONTROL_LAST + 1) == 0xff && xor(block, 0, BLOCK) == 0xff;
  }

  /** Brings the output to its mailboxes and gives the entry back. */
  void answer(long address, MemorySegment output, boolean signatures) throws DmaFault {
    MemorySegment.copy(output, 0, entry, OUTPUT_INLINE.offset(), Math.min(INLINE, output.byteSize()));
    long next = OUTPUT_MAILBOX.getLong(entry, 0);
    for (long done = INLINE; done < output.byteSize(); done += BLOCK_DATA) {
      host.read(next, block, 0, BLOCK);
      block.asSlice(0, BLOCK_DATA).fill((byte) 0);
      MemorySegment.copy(output, done, block, 0, Math.min(BLOCK_DATA, output.byteSize() - done));
      if (signatures) {
        sign();
      }
      host.write(next, block, 0, BLOCK);
      next = NEXT.getLong(block, 0);
    }
    give(address, DeliveryStatus.OK, signatures);
  }

  private void sign() {
    CONTROL_SIGNATURE.set(block, 0, 0);
    BLOCK_SIGNATURE.set(block, 0, 0);
    CONTROL_SIGNATURE.set(block, 0, ~xor(block, CONTROL_FIRST, CONTROL_LAST) & 0xff);
    BLOCK_SIGNATURE.set(block, 0, ~xor(block, 0, BLOCK - 1) & 0xff);
  }

  /** Gives the entry back with a delivery status: first all of it, last the byte that tells whose it is. */
  void give(long address, DeliveryStatus status, boolean signatures) throws DmaFault {
    STATUS.set(entry, 0, status.number());
    OWNERSHIP.set(entry, 0, 0);
    SIGNATURE.set(entry, 0, 0);
    if (signatures) {
      SIGNATURE.set(entry, 0, ~xor(entry, 0, ENTRY) & 0xff);
    }
    host.write(address, entry, 0, ENTRY - 1);
    VarHandle.releaseFence();
    host.write(address + ENTRY - 1, entry, ENTRY - 1, 1);
  }

  private static int xor(MemorySegment memory, long from, long to) {
    int sum = 0;
    for (long i = from; i < to; i++) {
      sum ^= memory.get(ValueLayout.JAVA_BYTE, i);
    }
    return sum & 0xff;
  }
}
