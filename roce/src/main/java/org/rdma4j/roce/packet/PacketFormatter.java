package org.rdma4j.roce.packet;

import java.lang.foreign.MemorySegment;

/**
 * Renders a packet as one line for people, as packet analysers do: {@code RC SEND Only psn 12 qp 0x11 ackreq len 64}.
 * Allocates; not for the data path.
 */
public final class PacketFormatter {

  private static final int DEFAULT_PKEY = 0xffff;
  private static final int GENERAL_SERVICES = 1;

  private PacketFormatter() {}

  /**
   * Renders a packet.
   *
   * @param packet the packet's memory
   * @param offset of the BTH
   * @param length bytes from the BTH to the end of the pad
   * @return opcode, psn, destination queue pair, flags that are set, the extended headers, the header of a management
   *     datagram and which message of communication management it is, and payload bytes; a packet too short for its
   *     headers is said to be truncated
   */
  public static String format(MemorySegment packet, long offset, int length) {
    return append(new StringBuilder(96), packet, offset, length).toString();
  }

  /**
   * Renders a packet to the end of a text.
   *
   * @param text where to
   * @param packet the packet's memory
   * @param offset of the BTH
   * @param length bytes from the BTH to the end of the pad
   * @return the text
   */
  public static StringBuilder append(StringBuilder text, MemorySegment packet, long offset, int length) {
    if (length < Bth.LENGTH) {
      return text.append("truncated: ").append(length).append(" bytes");
    }
    int opcode = Bth.opcode(packet, offset);
    text.append(Opcode.name(opcode)).append(" psn ").append(Bth.psn(packet, offset));
    hex(text, "qp", Bth.destQp(packet, offset));
    flag(text, Bth.solicited(packet, offset), "solicited");
    flag(text, Bth.ackReq(packet, offset), "ackreq");
    flag(text, Bth.migReq(packet, offset), "migreq");
    flag(text, Bth.fecn(packet, offset), "fecn");
    flag(text, Bth.becn(packet, offset), "becn");
    if (Bth.pkey(packet, offset) != DEFAULT_PKEY) {
      hex(text, "pkey", Bth.pkey(packet, offset));
    }
    if (Bth.version(packet, offset) != 0) {
      text.append(" version ").append(Bth.version(packet, offset));
    }
    int payload = length - Opcode.headerLength(opcode) - Bth.padCount(packet, offset);
    if (payload < 0) {
      return text.append(" truncated: ").append(length).append(" bytes");
    }
    if (Opcode.isKnown(opcode)) {
      appendHeaders(text, packet, offset, opcode);
    }
    if (opcode == Opcode.UD_SEND_ONLY
        && Bth.destQp(packet, offset) == GENERAL_SERVICES
        && payload == MadFormatter.LENGTH) {
      MadFormatter.append(text, packet, offset + Opcode.headerLength(opcode));
    }
    return text.append(" len ").append(Opcode.isKnown(opcode) ? payload : payload - Bth.LENGTH);
  }

  private static void appendHeaders(StringBuilder text, MemorySegment packet, long offset, int opcode) {
    int xrceth = Opcode.xrcethOffset(opcode);
    if (xrceth >= 0) {
      hex(text, "srq", Xrceth.srq(packet, offset + xrceth));
    }
    int feth = Opcode.fethOffset(opcode);
    if (feth >= 0) {
      appendFlush(text, Feth.placement(packet, offset + feth), Feth.selectivity(packet, offset + feth));
    }
    int reth = Opcode.rethOffset(opcode);
    if (reth >= 0) {
      hex(text, "va", Reth.address(packet, offset + reth));
      hex(text, "rkey", Integer.toUnsignedLong(Reth.rkey(packet, offset + reth)));
      text.append(" dmalen ").append(Reth.length(packet, offset + reth));
    }
    int atomic = Opcode.atomicOffset(opcode);
    if (atomic >= 0) {
      hex(text, "va", AtomicEth.address(packet, offset + atomic));
      hex(text, "rkey", Integer.toUnsignedLong(AtomicEth.rkey(packet, offset + atomic)));
      boolean swap = Opcode.operation(opcode) == Opcode.RC_COMPARE_SWAP;
      hex(text, swap ? "swap" : "add", AtomicEth.swapOrAdd(packet, offset + atomic));
      if (swap) {
        hex(text, "compare", AtomicEth.compare(packet, offset + atomic));
      }
    }
    int deth = Opcode.dethOffset(opcode);
    if (deth >= 0) {
      hex(text, "sqp", Deth.sourceQp(packet, offset + deth));
      hex(text, "qkey", Integer.toUnsignedLong(Deth.qkey(packet, offset + deth)));
    }
    int aeth = Opcode.aethOffset(opcode);
    if (aeth >= 0) {
      text.append(" msn ").append(Aeth.msn(packet, offset + aeth));
      text.append(' ').append(Syndrome.describe(Aeth.syndrome(packet, offset + aeth)));
    }
    int original = Opcode.atomicAckOffset(opcode);
    if (original >= 0) {
      hex(text, "original", AtomicAckEth.original(packet, offset + original));
    }
    int imm = Opcode.immOffset(opcode);
    if (imm >= 0) {
      hex(text, "imm", Integer.toUnsignedLong(ImmDt.value(packet, offset + imm)));
    }
    int ieth = Opcode.iethOffset(opcode);
    if (ieth >= 0) {
      hex(text, "invalidate", Integer.toUnsignedLong(Ieth.rkey(packet, offset + ieth)));
    }
  }

  private static void appendFlush(StringBuilder text, int placement, int selectivity) {
    flag(text, (placement & Feth.GLOBAL) != 0, "global");
    flag(text, (placement & Feth.PERSISTENT) != 0, "persistent");
    int unknown = placement & ~(Feth.GLOBAL | Feth.PERSISTENT);
    if (placement == 0 || unknown != 0) {
      hex(text, "placement", placement);
    }
    switch (selectivity) {
      case Feth.RANGE -> text.append(" range");
      case Feth.REGION -> text.append(" region");
      default -> text.append(" selectivity ").append(selectivity);
    }
  }

  private static void hex(StringBuilder text, String label, long value) {
    text.append(' ').append(label).append(" 0x").append(Long.toHexString(value));
  }

  private static void flag(StringBuilder text, boolean set, String name) {
    text.append(set ? " " : "").append(set ? name : "");
  }
}
