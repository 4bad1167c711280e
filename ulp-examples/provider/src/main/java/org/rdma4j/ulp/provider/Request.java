package org.rdma4j.ulp.provider;

import java.util.ArrayList;
import java.util.List;
import org.rdma4j.ib.core.verbs.ReceiveWorkRequest;
import org.rdma4j.ib.core.verbs.SendFlag;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.WcOpcode;
import org.rdma4j.ib.core.verbs.WrOpcode;

/** A copy of a posted send, whose maker may use his again at once. */
record Request(
    long wrId,
    WrOpcode opcode,
    int flags,
    int immediate,
    long remoteAddress,
    int rkey,
    LoopAh ah,
    int remoteQpn,
    int remoteQkey,
    List<Buffer> buffers) {

  /** A piece of local memory. */
  record Buffer(long address, long length, int lkey) {}

  /** A copy of a posted receive. */
  record Receive(long wrId, List<Buffer> buffers) {
    static Receive of(ReceiveWorkRequest wr) {
      List<Buffer> buffers = new ArrayList<>();
      for (int i = 0; i < wr.sgeCount(); i++) {
        buffers.add(new Buffer(wr.sgeAddress(i), Integer.toUnsignedLong(wr.sgeLength(i)), wr.sgeLkey(i)));
      }
      return new Receive(wr.wrId(), buffers);
    }
  }

  static Request of(SendWorkRequest wr) {
    List<Buffer> buffers = new ArrayList<>();
    for (int i = 0; i < wr.sgeCount(); i++) {
      buffers.add(new Buffer(wr.sgeAddress(i), Integer.toUnsignedLong(wr.sgeLength(i)), wr.sgeLkey(i)));
    }
    return new Request(
        wr.wrId(),
        wr.opcode(),
        wr.flags(),
        wr.immediate(),
        wr.remoteAddress(),
        wr.rkey(),
        (LoopAh) wr.ah(),
        wr.remoteQpn(),
        wr.remoteQkey(),
        buffers);
  }

  static long length(List<Buffer> buffers) {
    return buffers.stream().mapToLong(Buffer::length).sum();
  }

  boolean has(int flag) {
    return (flags & flag) != 0;
  }

  boolean isSolicited() {
    return has(SendFlag.SOLICITED);
  }

  boolean hasImmediate() {
    return opcode == WrOpcode.SEND_WITH_IMM || opcode == WrOpcode.RDMA_WRITE_WITH_IMM;
  }

  WcOpcode completes() {
    return switch (opcode) {
      case RDMA_WRITE, RDMA_WRITE_WITH_IMM -> WcOpcode.RDMA_WRITE;
      case RDMA_READ -> WcOpcode.RDMA_READ;
      default -> WcOpcode.SEND;
    };
  }
}
