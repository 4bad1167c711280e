package org.rdma4j.rxe.ring;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.MemorySegment;
import org.rdma4j.ib.core.verbs.SendFlag;
import org.rdma4j.ib.core.verbs.SendWorkRequest;

/** Writes send work requests field by field into slots of a send ring. For the holder of the ring's lock. */
public final class SendSlotWriter {
  private final MemorySegment memory;
  private long slot;
  private long length;

  /**
   * Makes a writer.
   *
   * @param ring the ring written to
   */
  public SendSlotWriter(WorkRing ring) {
    this.memory = ring.memory();
  }

  /**
   * Begins a request without data.
   *
   * @param at offset of the slot
   * @param wrId identifier
   * @param opcode kernel's number
   * @param flags see {@link SendFlag}
   */
  public void begin(long at, long wrId, int opcode, int flags) {
    slot = at;
    length = 0;
    memory.set(JAVA_LONG, slot + SendSlot.WR_ID, wrId);
    memory.set(JAVA_INT, slot + SendSlot.XRC_SRQ, 0);
    memory.set(JAVA_INT, slot + SendSlot.OPCODE, opcode);
    memory.set(JAVA_INT, slot + SendSlot.SEND_FLAGS, flags);
    memory.set(JAVA_INT, slot + SendSlot.EX, 0);
    SendSlot.start(memory, slot, 0, 0, 0);
  }

  /**
   * Names the shared receive queue of the peer.
   *
   * @param number 24 bits
   */
  public void xrcSrq(int number) {
    memory.set(JAVA_INT, slot + SendSlot.XRC_SRQ, number);
  }

  /**
   * Sets the immediate data.
   *
   * @param value in host order
   */
  public void immediate(int value) {
    memory.set(JAVA_INT, slot + SendSlot.EX, BigEndian.of(value));
  }

  /**
   * Sets the key to invalidate.
   *
   * @param key the key
   */
  public void invalidate(int key) {
    memory.set(JAVA_INT, slot + SendSlot.EX, key);
  }

  /**
   * Names the memory of a WRITE or READ.
   *
   * @param address remote address
   * @param rkey remote key
   */
  public void rdma(long address, int rkey) {
    memory.set(JAVA_LONG, slot + SendSlot.REMOTE_ADDRESS, address);
    memory.set(JAVA_INT, slot + SendSlot.RDMA_RKEY, rkey);
    memory.set(JAVA_LONG, slot + SendSlot.IOVA, address);
  }

  /**
   * Names the memory and operands of an atomic.
   *
   * @param address remote address
   * @param rkey remote key
   * @param compareAdd value to compare with or to add
   * @param swap value to store
   */
  public void atomic(long address, int rkey, long compareAdd, long swap) {
    memory.set(JAVA_LONG, slot + SendSlot.REMOTE_ADDRESS, address);
    memory.set(JAVA_LONG, slot + SendSlot.COMPARE_ADD, compareAdd);
    memory.set(JAVA_LONG, slot + SendSlot.SWAP, swap);
    memory.set(JAVA_INT, slot + SendSlot.ATOMIC_RKEY, rkey);
    memory.set(JAVA_LONG, slot + SendSlot.IOVA, address);
  }

  /**
   * Names the memory of an atomic write and gives its value, which lies where inline data does.
   *
   * @param address remote address
   * @param rkey remote key
   * @param value 8 bytes in the order of the host
   */
  public void atomicWrite(long address, int rkey, long value) {
    rdma(address, rkey);
    memory.set(JAVA_LONG, slot + SendSlot.DATA, value);
    length = Long.BYTES;
    SendSlot.setLength(memory, slot, Long.BYTES, 0);
  }

  /**
   * Names what a flush works on.
   *
   * @param address remote address
   * @param bytes 0 to 2^31
   * @param rkey remote key
   * @param placement placement types, the kernel's bits
   * @param level selectivity level, the kernel's number
   */
  public void flush(long address, long bytes, int rkey, int placement, int level) {
    memory.set(JAVA_LONG, slot + SendSlot.REMOTE_ADDRESS, address);
    memory.set(JAVA_INT, slot + SendSlot.FLUSH_LENGTH, (int) bytes);
    memory.set(JAVA_INT, slot + SendSlot.FLUSH_RKEY, rkey);
    memory.set(JAVA_BYTE, slot + SendSlot.FLUSH_TYPE, (byte) placement);
    memory.set(JAVA_BYTE, slot + SendSlot.FLUSH_LEVEL, (byte) level);
    memory.set(JAVA_LONG, slot + SendSlot.IOVA, address);
    length = bytes;
    SendSlot.setLength(memory, slot, (int) bytes, 0);
  }

  /**
   * Names the receiver of a datagram.
   *
   * @param ahNumber number of the address handle
   * @param qpn queue pair number
   * @param qkey Q_Key
   * @param pkeyIndex index of the P_Key
   */
  public void datagram(int ahNumber, int qpn, int qkey, int pkeyIndex) {
    memory.set(JAVA_INT, slot + SendSlot.REMOTE_QPN, qpn);
    memory.set(JAVA_INT, slot + SendSlot.REMOTE_QKEY, qkey);
    memory.set(JAVA_SHORT, slot + SendSlot.PKEY_INDEX, (short) pkeyIndex);
    memory.set(JAVA_INT, slot + SendSlot.AH_NUMBER, ahNumber);
  }

  /**
   * Names what a memory window is bound to.
   *
   * @param window key that names the window
   * @param newKey key it shall have
   * @param region local key of the region, 0 for none
   * @param address first byte
   * @param bytes length
   * @param access the kernel's access bits
   */
  public void bind(int window, int newKey, int region, long address, long bytes, int access) {
    memory.set(JAVA_LONG, slot + SendSlot.MW_ADDRESS, address);
    memory.set(JAVA_LONG, slot + SendSlot.MW_LENGTH, bytes);
    memory.set(JAVA_INT, slot + SendSlot.MW_REGION_LKEY, region);
    memory.set(JAVA_INT, slot + SendSlot.MW_RKEY, window);
    memory.set(JAVA_INT, slot + SendSlot.MW_NEW_RKEY, newKey);
    memory.set(JAVA_INT, slot + SendSlot.MW_ACCESS, access);
  }

  /**
   * Names what a fast registration makes valid.
   *
   * @param region key that the region was made with
   * @param key key it shall have
   * @param access the kernel's access bits
   */
  public void register(int region, int key, int access) {
    memory.set(JAVA_LONG, slot + SendSlot.REG_REGION, Integer.toUnsignedLong(region));
    memory.set(JAVA_INT, slot + SendSlot.REG_KEY, key);
    memory.set(JAVA_INT, slot + SendSlot.REG_ACCESS, access);
  }

  /**
   * Adds a buffer.
   *
   * @param index 0 for the first, then rising by one; below the ring's limit
   * @param address local address
   * @param bytes length, unsigned 32 bits
   * @param lkey local key
   */
  public void sge(int index, long address, int bytes, int lkey) {
    SgeSlot.write(memory, slot + SendSlot.DATA, index, address, bytes, lkey);
    length += Integer.toUnsignedLong(bytes);
    SendSlot.setLength(memory, slot, (int) length, index + 1);
  }

  /**
   * Copies the buffers of a work request.
   *
   * @param wr the request, with at most as many buffers as the ring takes
   */
  public void sges(SendWorkRequest wr) {
    for (int i = 0; i < wr.sgeCount(); i++) {
      sge(i, wr.sgeAddress(i), wr.sgeLength(i), wr.sgeLkey(i));
    }
  }

  /** {@return bytes of all buffers so far} */
  public long length() {
    return length;
  }

  /** {@return the memory of the ring, to copy inline data into at {@link #dataOffset()}} */
  public MemorySegment memory() {
    return memory;
  }

  /** {@return where inline data begins} */
  public long dataOffset() {
    return slot + SendSlot.DATA;
  }

  /**
   * Says that inline data has been copied.
   *
   * @param bytes how much
   */
  public void inline(int bytes) {
    int flags = memory.get(JAVA_INT, slot + SendSlot.SEND_FLAGS);
    memory.set(JAVA_INT, slot + SendSlot.SEND_FLAGS, flags | SendFlag.INLINE);
    length = bytes;
    SendSlot.setLength(memory, slot, bytes, 0);
  }
}
