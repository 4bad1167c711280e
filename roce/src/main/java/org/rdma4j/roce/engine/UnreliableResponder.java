package org.rdma4j.roce.engine;

import java.lang.foreign.MemorySegment;
import org.rdma4j.roce.link.ReceivedPacket;
import org.rdma4j.roce.packet.Bth;
import org.rdma4j.roce.packet.Opcode;
import org.rdma4j.roce.packet.OpcodeFlag;
import org.rdma4j.roce.packet.Psn;

/**
 * Responder of an unreliable connection: a message arrives whole and in order, or not at all; nothing is ever
 * answered (IBA specification section 9.8.2).
 */
final class UnreliableResponder extends Responder {
  private int expectedPsn;

  UnreliableResponder(QpContext qp, Completion completion, int maxReceiveSge) {
    super(qp, completion, maxReceiveSge);
  }

  @Override
  void start(int firstPsn) {
    super.start(firstPsn);
    expectedPsn = firstPsn & Psn.MASK;
  }

  @Override
  int expectedPsn() {
    return expectedPsn;
  }

  @Override
  void onRequest(ReceivedPacket received, MemorySegment packet, long at, int length, int opcode) {
    int flags = Opcode.flags(opcode);
    boolean start = (flags & OpcodeFlag.START) != 0;
    int psn = Bth.psn(packet, at);
    if (start) {
      giveUp(); // A first packet ends whatever was incomplete.
    } else if (psn != expectedPsn || !inSequence(flags)) {
      giveUp();
      expectedPsn = Psn.add(psn, 1);
      return;
    }
    expectedPsn = Psn.add(psn, 1);
    int header = Opcode.headerLength(opcode);
    int pad = Bth.padCount(packet, at);
    int payload = length - header - pad;
    FailedCheck check = execute(packet, at, opcode, flags, header, payload, pad);
    if (check.isLocal()) {
      failLocally(check);
      return;
    }
    if (check != FailedCheck.NONE) {
      giveUp();
      qp.engine().counters().increment(EngineCounter.DROPPED_NO_RECEIVE);
      return;
    }
    follow(flags);
    if ((flags & OpcodeFlag.COMPLETES) != 0) {
      completeReceive(packet, at, opcode, flags, 0, 0);
    }
  }

  private FailedCheck execute(
      MemorySegment packet, long at, int opcode, int flags, int header, int payload, int pad) {
    if (!packetLengthFits(flags, payload, pad)) {
      return FailedCheck.PACKET_LENGTH;
    }
    if ((flags & OpcodeFlag.WRITE) == 0) {
      return holdReceive() ? receivePayload(packet, at + header, payload) : FailedCheck.RECEIVE_TOO_SHORT;
    }
    if ((qp.settings().access & RegisteredMemory.REMOTE_WRITE) == 0) {
      return FailedCheck.QP_ACCESS;
    }
    if ((flags & OpcodeFlag.START) != 0) {
      FailedCheck check = beginWrite(packet, at, opcode);
      if (check != FailedCheck.NONE) {
        return check;
      }
    }
    if (!writeLengthFits(payload, (flags & OpcodeFlag.END) != 0)) {
      return FailedCheck.DMA_LENGTH;
    }
    if ((flags & OpcodeFlag.CONSUMES_RECEIVE) != 0 && !holdReceive()) {
      return FailedCheck.RECEIVE_TOO_SHORT;
    }
    return writePayload(packet, at + header, payload);
  }

  private void giveUp() {
    message = Message.NONE;
    reuseReceive();
  }
}
