package org.rdma4j.roce.engine;

import java.lang.foreign.MemorySegment;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.link.ReceivedPacket;
import org.rdma4j.roce.packet.Bth;
import org.rdma4j.roce.packet.Deth;
import org.rdma4j.roce.packet.Grh;
import org.rdma4j.roce.packet.Opcode;

/**
 * Responder of a datagram queue pair: each packet is a message; what does not fit is dropped (IBA specification
 * section 9.8.3). The receive gets 40 bytes of network header first.
 */
final class DatagramResponder extends Responder {
  /** Bytes that IP counts besides BTH to pad: UDP header and ICRC. */
  private static final int UDP_AND_ICRC = 8 + 4;

  private static final int IPV4_HEADER = 20;

  DatagramResponder(QpContext qp, Completion completion, int maxReceiveSge) {
    super(qp, completion, maxReceiveSge);
  }

  @Override
  void onRequest(ReceivedPacket received, MemorySegment packet, long at, int length, int opcode) {
    int header = Opcode.headerLength(opcode);
    int payload = length - header - Bth.padCount(packet, at);
    if (payload > qp.engine().config().portMtu() || !holdReceive()) {
      qp.engine().counters().increment(EngineCounter.DROPPED_NO_RECEIVE);
      return;
    }
    MemorySegment grh = qp.engine().scratch();
    writeGrh(grh, received, length);
    FailedCheck check = receivePayload(grh, 0, Grh.LENGTH);
    if (check == FailedCheck.NONE) {
      check = receivePayload(packet, at + header, payload);
    }
    if (check == FailedCheck.RECEIVE_TOO_SHORT) {
      reuseReceive();
      qp.engine().counters().increment(EngineCounter.DROPPED_NO_RECEIVE);
    } else if (check != FailedCheck.NONE) {
      failLocally(check);
    } else {
      int source = Deth.sourceQp(packet, at + Opcode.dethOffset(opcode));
      completeReceive(packet, at, opcode, Opcode.flags(opcode), 0, source);
    }
  }

  private static void writeGrh(MemorySegment grh, ReceivedPacket from, int length) {
    if (Gid.isIpv4Mapped(from.sourceHi(), from.sourceLo())) {
      Grh.writeIpv4(
          grh,
          0,
          from.trafficClass(),
          IPV4_HEADER + UDP_AND_ICRC + length,
          Math.max(0, from.identification()),
          from.hopLimit(),
          (int) from.sourceLo(),
          (int) from.destinationLo());
    } else {
      Grh.writeIpv6(
          grh,
          0,
          from.trafficClass(),
          Math.max(0, from.flowLabel()),
          UDP_AND_ICRC + length,
          from.hopLimit(),
          from.sourceHi(),
          from.sourceLo(),
          from.destinationHi(),
          from.destinationLo());
    }
  }
}
