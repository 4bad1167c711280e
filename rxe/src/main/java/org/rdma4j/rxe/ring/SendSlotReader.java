package org.rdma4j.rxe.ring;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.MemorySegment;
import org.rdma4j.ib.core.verbs.SendFlag;
import org.rdma4j.roce.engine.FailedCheck;
import org.rdma4j.roce.engine.SendWork;
import org.rdma4j.roce.engine.WorkOpcode;

/**
 * Copies send work requests out of their slots for the engine. The ring may be written by somebody hostile at any
 * moment: each field is read once, what counts something is bounded, and everything after works on the copy.
 */
public final class SendSlotReader {
  private final WorkRing ring;
  private final boolean datagram;
  private final int maxSge;
  private final int maxInline;
  private int ahNumber;

  /**
   * Makes a reader.
   *
   * @param ring the ring read from
   * @param datagram whether requests name a receiver
   * @param maxSge most scatter/gather elements
   * @param maxInline most bytes of inline data
   */
  public SendSlotReader(WorkRing ring, boolean datagram, int maxSge, int maxInline) {
    this.ring = ring;
    this.datagram = datagram;
    this.maxSge = maxSge;
    this.maxInline = maxInline;
  }

  /**
   * Copies the request at a position.
   *
   * @param position counted from 0 and never wrapping
   * @param work filled, but for the route
   * @return false when nothing is posted there
   */
  public boolean read(long position, SendWork work) {
    if (!ring.has(position)) {
      return false;
    }
    MemorySegment memory = ring.memory();
    long slot = ring.slot(position);
    int opcode = memory.get(JAVA_INT, slot + SendSlot.OPCODE);
    int flags = memory.get(JAVA_INT, slot + SendSlot.SEND_FLAGS);
    int ex = memory.get(JAVA_INT, slot + SendSlot.EX);
    work.id = memory.get(JAVA_LONG, slot + SendSlot.WR_ID);
    work.opcode = opcode;
    work.xrcSrq = memory.get(JAVA_INT, slot + SendSlot.XRC_SRQ) & 0xff_ffff;
    work.fence = (flags & SendFlag.FENCE) != 0;
    work.signaled = (flags & SendFlag.SIGNALED) != 0;
    work.solicited = (flags & SendFlag.SOLICITED) != 0;
    boolean immediate = opcode == WorkOpcode.SEND_WITH_IMM || opcode == WorkOpcode.RDMA_WRITE_WITH_IMM;
    work.immediate = immediate ? BigEndian.of(ex) : ex;
    readOperands(memory, slot, work);
    readData(memory, slot, (flags & SendFlag.INLINE) != 0, work);
    return true;
  }

  private void readOperands(MemorySegment memory, long slot, SendWork work) {
    ahNumber = 0;
    if (datagram) {
      work.remoteQp = memory.get(JAVA_INT, slot + SendSlot.REMOTE_QPN) & 0xff_ffff;
      work.remoteQkey = memory.get(JAVA_INT, slot + SendSlot.REMOTE_QKEY);
      work.pkeyIndex = memory.get(JAVA_SHORT, slot + SendSlot.PKEY_INDEX) & 0xffff;
      ahNumber = memory.get(JAVA_INT, slot + SendSlot.AH_NUMBER);
      return;
    }
    if (work.opcode == WorkOpcode.BIND_MW) {
      readBind(memory, slot, LocalOperands.of(work));
      return;
    }
    if (work.opcode == WorkOpcode.REG_MR) {
      readRegistration(memory, slot, LocalOperands.of(work));
      return;
    }
    work.remoteAddress = memory.get(JAVA_LONG, slot + SendSlot.REMOTE_ADDRESS);
    if (work.opcode == WorkOpcode.FLUSH) {
      work.remoteKey = memory.get(JAVA_INT, slot + SendSlot.FLUSH_RKEY);
      work.placement = memory.get(JAVA_BYTE, slot + SendSlot.FLUSH_TYPE);
      work.selectivity = memory.get(JAVA_BYTE, slot + SendSlot.FLUSH_LEVEL);
      work.flushLength = Integer.toUnsignedLong(memory.get(JAVA_INT, slot + SendSlot.LENGTH));
      return;
    }
    if (work.opcode == WorkOpcode.ATOMIC_CMP_AND_SWP || work.opcode == WorkOpcode.ATOMIC_FETCH_AND_ADD) {
      work.compareAdd = memory.get(JAVA_LONG, slot + SendSlot.COMPARE_ADD);
      work.swap = memory.get(JAVA_LONG, slot + SendSlot.SWAP);
      work.remoteKey = memory.get(JAVA_INT, slot + SendSlot.ATOMIC_RKEY);
    } else {
      work.remoteKey = memory.get(JAVA_INT, slot + SendSlot.RDMA_RKEY);
    }
  }

  private static void readRegistration(MemorySegment memory, long slot, LocalOperands operands) {
    operands.regionKey = (int) memory.get(JAVA_LONG, slot + SendSlot.REG_REGION);
    operands.newKey = memory.get(JAVA_INT, slot + SendSlot.REG_KEY);
    operands.access = memory.get(JAVA_INT, slot + SendSlot.REG_ACCESS);
  }

  private static void readBind(MemorySegment memory, long slot, LocalOperands operands) {
    operands.address = memory.get(JAVA_LONG, slot + SendSlot.MW_ADDRESS);
    operands.length = memory.get(JAVA_LONG, slot + SendSlot.MW_LENGTH);
    operands.regionKey = memory.get(JAVA_INT, slot + SendSlot.MW_REGION_LKEY);
    operands.windowKey = memory.get(JAVA_INT, slot + SendSlot.MW_RKEY);
    operands.newKey = memory.get(JAVA_INT, slot + SendSlot.MW_NEW_RKEY);
    operands.access = memory.get(JAVA_INT, slot + SendSlot.MW_ACCESS);
  }

  private void readData(MemorySegment memory, long slot, boolean inline, SendWork work) {
    if (work.opcode == WorkOpcode.ATOMIC_WRITE) {
      // The value lies where inline data does, whatever the flags say.
      work.inlineMemory = memory;
      work.inlineOffset = slot + SendSlot.DATA;
      work.inlineLength = Long.BYTES;
      if (memory.get(JAVA_INT, slot + SendSlot.LENGTH) != Long.BYTES) {
        work.malformed = FailedCheck.WORK_REQUEST;
      }
      return;
    }
    if (inline) {
      int length = memory.get(JAVA_INT, slot + SendSlot.LENGTH);
      if (length < 0 || length > maxInline || !takesInline(work.opcode)) {
        work.malformed = FailedCheck.WORK_REQUEST;
      } else {
        work.inlineMemory = memory;
        work.inlineOffset = slot + SendSlot.DATA;
        work.inlineLength = length;
      }
      return;
    }
    int count = memory.get(JAVA_INT, slot + SendSlot.SGE_COUNT);
    if (count < 0 || count > maxSge) {
      work.malformed = FailedCheck.WORK_REQUEST;
    } else {
      SgeSlot.read(memory, slot + SendSlot.DATA, count, work.sge);
    }
  }

  /**
   * {@return whether requests of this kind may carry their data inline}
   *
   * @param opcode kernel's number
   */
  public static boolean takesInline(int opcode) {
    return switch (opcode) {
      case WorkOpcode.SEND,
          WorkOpcode.SEND_WITH_IMM,
          WorkOpcode.SEND_WITH_INV,
          WorkOpcode.RDMA_WRITE,
          WorkOpcode.RDMA_WRITE_WITH_IMM ->
          true;
      default -> false;
    };
  }

  /** {@return the number of the address handle of the request last read, as the ring has it; 0 for none} */
  public int ahNumber() {
    return ahNumber;
  }
}
