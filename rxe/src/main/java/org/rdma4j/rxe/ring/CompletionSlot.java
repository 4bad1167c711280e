package org.rdma4j.rxe.ring;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.MemorySegment;
import org.rdma4j.ib.core.verbs.WcOpcode;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.ib.core.verbs.WorkCompletion;
import org.rdma4j.roce.engine.Completion;

/**
 * A slot of a completion ring: {@code struct ib_uverbs_wc} in its first 48 bytes. The slot is as large as the
 * kernel's, where it also has to hold a {@code struct ib_wc}.
 */
public final class CompletionSlot {
  /** {@code wr_id}, u64. */
  public static final long WR_ID = 0x00;
  /** {@code status}, u32. */
  public static final long STATUS = 0x08;
  /** {@code opcode}, u32. */
  public static final long OPCODE = 0x0c;
  /** {@code vendor_err}, u32. */
  public static final long VENDOR_ERROR = 0x10;
  /** {@code byte_len}, u32. */
  public static final long BYTE_LENGTH = 0x14;
  /** {@code ex}: immediate data (big-endian) or the key that was invalidated, u32. */
  public static final long EX = 0x18;
  /** {@code qp_num}, u32. */
  public static final long QP_NUMBER = 0x1c;
  /** {@code src_qp}, u32. */
  public static final long SOURCE_QP = 0x20;
  /** {@code wc_flags}, u32. */
  public static final long FLAGS = 0x24;
  /** {@code pkey_index}, u16. */
  public static final long PKEY_INDEX = 0x28;
  /** {@code port_num}, u8. */
  public static final long PORT_NUMBER = 0x2e;
  /** Size of the kernel's element, a union with {@code struct ib_wc}. */
  public static final int BYTES = 72;

  private static final byte PORT_1 = 1;

  private CompletionSlot() {}

  static void write(MemorySegment memory, long slot, Completion completion) {
    memory.set(JAVA_LONG, slot + WR_ID, completion.id);
    memory.set(JAVA_INT, slot + STATUS, completion.status.number());
    memory.set(JAVA_INT, slot + OPCODE, completion.opcode);
    memory.set(JAVA_INT, slot + VENDOR_ERROR, completion.check.code());
    memory.set(JAVA_INT, slot + BYTE_LENGTH, completion.byteLength);
    boolean immediate = (completion.flags & Completion.WITH_IMMEDIATE) != 0;
    memory.set(JAVA_INT, slot + EX, immediate ? BigEndian.of(completion.immediate) : completion.immediate);
    memory.set(JAVA_INT, slot + QP_NUMBER, completion.qpNumber);
    memory.set(JAVA_INT, slot + SOURCE_QP, completion.sourceQp);
    memory.set(JAVA_INT, slot + FLAGS, completion.flags);
    memory.set(JAVA_LONG, slot + PKEY_INDEX, 0);
    memory.set(JAVA_SHORT, slot + PKEY_INDEX, (short) completion.pkeyIndex);
    memory.set(JAVA_BYTE, slot + PORT_NUMBER, PORT_1);
  }

  /** Fills a completion from a slot; numbers that mean nothing become an error, not an exception. */
  static void read(MemorySegment memory, long slot, WorkCompletion target) {
    int flags = memory.get(JAVA_INT, slot + FLAGS);
    target.set(
        memory.get(JAVA_LONG, slot + WR_ID),
        status(memory, slot),
        opcode(memory, slot),
        memory.get(JAVA_INT, slot + VENDOR_ERROR),
        memory.get(JAVA_INT, slot + BYTE_LENGTH),
        immediate(memory, slot),
        memory.get(JAVA_INT, slot + QP_NUMBER),
        memory.get(JAVA_INT, slot + SOURCE_QP),
        flags,
        pkeyIndex(memory, slot),
        portNumber(memory, slot));
  }

  static WcStatus status(MemorySegment memory, long slot) {
    WcStatus status = WcStatus.of(memory.get(JAVA_INT, slot + STATUS));
    return status == null ? WcStatus.GENERAL_ERR : status;
  }

  static WcOpcode opcode(MemorySegment memory, long slot) {
    WcOpcode opcode = WcOpcode.of(memory.get(JAVA_INT, slot + OPCODE));
    return opcode == null ? WcOpcode.SEND : opcode;
  }

  static int immediate(MemorySegment memory, long slot) {
    int value = memory.get(JAVA_INT, slot + EX);
    boolean immediate = (memory.get(JAVA_INT, slot + FLAGS) & Completion.WITH_IMMEDIATE) != 0;
    return immediate ? BigEndian.of(value) : value;
  }

  static int pkeyIndex(MemorySegment memory, long slot) {
    return memory.get(JAVA_SHORT, slot + PKEY_INDEX) & 0xffff;
  }

  static int portNumber(MemorySegment memory, long slot) {
    return memory.get(JAVA_BYTE, slot + PORT_NUMBER) & 0xff;
  }
}
