package org.rdma4j.roce.engine;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import org.rdma4j.roce.packet.Aeth;
import org.rdma4j.roce.packet.AtomicAckEth;
import org.rdma4j.roce.packet.AtomicEth;
import org.rdma4j.roce.packet.Bth;
import org.rdma4j.roce.packet.Deth;
import org.rdma4j.roce.packet.Feth;
import org.rdma4j.roce.packet.Opcode;
import org.rdma4j.roce.packet.Reth;
import org.rdma4j.roce.packet.Xrceth;

/** A packet made by hand, right or wrong. */
final class Packets {
  private static final int PKEY = 0xffff;

  private final MemorySegment memory;
  private final int opcode;

  private Packets(int opcode, int qp, int psn, int payload, int length) {
    this.opcode = opcode;
    memory = Arena.ofAuto().allocate(Math.max(length, Bth.LENGTH), 8);
    Bth.write(memory, 0, opcode, false, -payload & 3, PKEY, qp, true, psn);
  }

  /** With headers and a payload of zeros. */
  static Packets of(int opcode, int qp, int psn, int payload) {
    return new Packets(opcode, qp, psn, payload, Opcode.headerLength(opcode) + payload + (-payload & 3));
  }

  /** Of any length, from 12 bytes on. */
  static Packets cut(int opcode, int qp, int psn, int length) {
    return new Packets(opcode, qp, psn, 0, length);
  }

  static Packets write(int qp, int psn, long address, int key, int payload) {
    return of(Opcode.RC_RDMA_WRITE_ONLY, qp, psn, payload).reth(address, key, payload);
  }

  Packets reth(long address, int key, long length) {
    Reth.write(memory, Opcode.rethOffset(opcode), address, key, length);
    return this;
  }

  Packets atomic(long address, int key, long swapOrAdd, long compare) {
    AtomicEth.write(memory, Opcode.atomicOffset(opcode), address, key, swapOrAdd, compare);
    return this;
  }

  Packets xrceth(int srq) {
    Xrceth.write(memory, Opcode.xrcethOffset(opcode), srq);
    return this;
  }

  Packets feth(int placement, int selectivity) {
    Feth.write(memory, Opcode.fethOffset(opcode), placement, selectivity);
    return this;
  }

  Packets aeth(int syndrome, int msn) {
    Aeth.write(memory, Opcode.aethOffset(opcode), syndrome, msn);
    return this;
  }

  Packets original(long value) {
    AtomicAckEth.write(memory, Opcode.atomicAckOffset(opcode), value);
    return this;
  }

  Packets deth(int qkey, int sourceQp) {
    Deth.write(memory, Opcode.dethOffset(opcode), qkey, sourceQp);
    return this;
  }

  Packets to(int qp) {
    memory.set(JAVA_INT.withOrder(ByteOrder.BIG_ENDIAN), 4, qp);
    return this;
  }

  Packets pad(int count) {
    memory.set(JAVA_BYTE, 1, (byte) (count << 4));
    return this;
  }

  Packets version(int version) {
    memory.set(JAVA_BYTE, 1, (byte) (memory.get(JAVA_BYTE, 1) | version));
    return this;
  }

  byte[] bytes() {
    return memory.toArray(JAVA_BYTE);
  }
}
