package org.rdma4j.mlx5.ib;

import java.util.EnumSet;
import java.util.Set;
import org.rdma4j.ib.core.verbs.QpState;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.SendFlag;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.WcOpcode;
import org.rdma4j.ib.core.verbs.WrOpcode;

/**
 * What a send must be to be posted (kernel: {@code wr.c}). A check answers null, or what is wrong; texts are made only
 * then.
 */
final class SendRules {
  private static final Set<WrOpcode> DATAGRAM = EnumSet.of(WrOpcode.SEND, WrOpcode.SEND_WITH_IMM);
  private static final Set<WrOpcode> CONNECTED =
      EnumSet.of(
          WrOpcode.RDMA_WRITE,
          WrOpcode.RDMA_WRITE_WITH_IMM,
          WrOpcode.SEND,
          WrOpcode.SEND_WITH_IMM,
          WrOpcode.BIND_MW);
  private static final Set<WrOpcode> RELIABLE = EnumSet.copyOf(CONNECTED);

  static {
    RELIABLE.addAll(
        EnumSet.of(
            WrOpcode.SEND_WITH_INV,
            WrOpcode.RDMA_READ,
            WrOpcode.ATOMIC_CMP_AND_SWP,
            WrOpcode.ATOMIC_FETCH_AND_ADD,
            WrOpcode.LOCAL_INV,
            WrOpcode.REG_MR));
  }

  /** Memory keys change on queue pairs of RC and UC. */
  private static final Set<WrOpcode> EXTENDED = EnumSet.copyOf(RELIABLE);

  static {
    EXTENDED.removeIf(SendRules::isLocal);
  }

  private static final int QPN_BITS = 0xff_ffff;

  private final ConnectxDevice device;
  private final QpType type;
  private final Set<WrOpcode> opcodes;
  private final int maxSge;
  private final int maxInline;

  SendRules(ConnectxDevice device, QpType type, int maxSge, int maxInline) {
    this.device = device;
    this.type = type;
    this.maxSge = maxSge;
    this.maxInline = maxInline;
    this.opcodes =
        switch (type) {
          case RC -> RELIABLE;
          case XRC_INI -> EXTENDED;
          case UC -> CONNECTED;
          case XRC_TGT -> Set.of();
          default -> DATAGRAM;
        };
  }

  boolean isDatagram() {
    return opcodes == DATAGRAM;
  }

  /** Whether requests name a shared receive queue of the peer. */
  boolean isExtended() {
    return type == QpType.XRC_INI;
  }

  ConnectxDevice device() {
    return device;
  }

  /** The card's number of an operation. */
  static int number(WrOpcode opcode) {
    return switch (opcode) {
      case SEND_WITH_INV -> 0x01;
      case RDMA_WRITE -> 0x08;
      case RDMA_WRITE_WITH_IMM -> 0x09;
      case SEND -> 0x0a;
      case SEND_WITH_IMM -> 0x0b;
      case RDMA_READ -> 0x10;
      case ATOMIC_CMP_AND_SWP -> 0x11;
      case ATOMIC_FETCH_AND_ADD -> 0x12;
      case REG_MR, LOCAL_INV, BIND_MW -> UmrEntry.OPCODE;
      default -> throw new IllegalArgumentException(opcode + " was not checked");
    };
  }

  /** What its completion says. */
  static WcOpcode completion(WrOpcode opcode) {
    return switch (opcode) {
      case RDMA_WRITE, RDMA_WRITE_WITH_IMM -> WcOpcode.RDMA_WRITE;
      case RDMA_READ -> WcOpcode.RDMA_READ;
      case ATOMIC_CMP_AND_SWP -> WcOpcode.COMP_SWAP;
      case ATOMIC_FETCH_AND_ADD -> WcOpcode.FETCH_ADD;
      case REG_MR -> WcOpcode.REG_MR;
      case LOCAL_INV -> WcOpcode.LOCAL_INV;
      case BIND_MW -> WcOpcode.BIND_MW;
      default -> WcOpcode.SEND;
    };
  }

  /** The whole request. */
  String check(QpState state, SendWorkRequest wr) {
    String fault = checkState(state);
    if (fault == null) {
      fault = checkOpcode(wr.opcode());
    }
    if (fault == null && isAtomic(wr.opcode())) {
      fault = checkAtomic(wr.remoteAddress());
      if (fault == null && (wr.sgeCount() != 1 || wr.sgeLength(0) != Long.BYTES)) {
        fault = "it has " + wr.sgeCount() + " buffers of " + length(wr) + " bytes; an atomic needs one of 8";
      }
    }
    if (fault == null && isLocal(wr.opcode())) {
      return checkNoData(wr);
    }
    if (fault == null && isDatagram()) {
      fault = checkDatagram(wr.ah(), wr.remoteQpn());
    }
    if (fault == null && type == QpType.GSI && wr.pkeyIndex() != 0) {
      fault = "pkey_index " + wr.pkeyIndex() + " is not in the P_Key table of the port, which has 1 entry";
    }
    if (fault == null && isExtended()) {
      fault = checkXrc(wr.xrcSrqNumber());
    }
    if (fault != null) {
      return fault;
    }
    if (wr.inlineData() != null) {
      return wr.sgeCount() == 0
          ? checkInline(wr.opcode(), wr.inlineData().byteSize())
          : "it has inlineData() and " + wr.sgeCount() + " buffers; one of both is allowed";
    }
    if ((wr.flags() & SendFlag.INLINE) != 0) {
      return checkInline(wr.opcode(), length(wr));
    }
    return checkSgeCount(wr.sgeCount());
  }

  String checkState(QpState state) {
    return state.ordinal() >= QpState.RTS.ordinal()
        ? null
        : "the state is " + state + "; sends are posted in RTS, SQD, SQE and ERR";
  }

  String checkOpcode(WrOpcode opcode) {
    return opcode != null && opcodes.contains(opcode)
        ? null
        : opcode + " is no operation of " + type + " on this device; allowed are " + opcodes;
  }

  static String checkAtomic(long address) {
    return (address & (Long.BYTES - 1)) == 0
        ? null
        : "the remote address 0x" + Long.toHexString(address) + " of an atomic is no multiple of 8";
  }

  String checkDatagram(Object handle, int qpn) {
    if (!(handle instanceof IbAddressHandle ah) || ah.device() != device) {
      return "the address handle is " + handle + "; a datagram needs one of this device";
    }
    return (qpn & ~QPN_BITS) == 0 ? null : "the remote QP number 0x" + Integer.toHexString(qpn) + " exceeds 24 bits";
  }

  static String checkXrc(int srqNumber) {
    return srqNumber > 0 && srqNumber <= QPN_BITS
        ? null
        : "the number 0x" + Integer.toHexString(srqNumber) + " of the peer's shared receive queue is not between 1 and"
            + " 0xffffff";
  }

  String checkInline(WrOpcode opcode, long length) {
    if (opcode == WrOpcode.RDMA_READ || isAtomic(opcode) || isLocal(opcode)) {
      return opcode + " carries no inline data; SEND and RDMA_WRITE do";
    }
    return length <= maxInline ? null : "it has " + length + " bytes of inline data; max_inline_data is " + maxInline;
  }

  String checkSgeCount(int count) {
    return count <= maxSge ? null : "it has " + count + " buffers; max_send_sge is " + maxSge;
  }

  private static String checkNoData(SendWorkRequest wr) {
    boolean data = wr.sgeCount() != 0 || wr.inlineData() != null || (wr.flags() & SendFlag.INLINE) != 0;
    return data ? "it has buffers or inline data; " + wr.opcode() + " takes none" : null;
  }

  /** Whether the card changes a memory key, and sends nothing. */
  static boolean isLocal(WrOpcode opcode) {
    return opcode == WrOpcode.REG_MR || opcode == WrOpcode.LOCAL_INV || opcode == WrOpcode.BIND_MW;
  }

  static boolean isAtomic(WrOpcode opcode) {
    return opcode == WrOpcode.ATOMIC_CMP_AND_SWP || opcode == WrOpcode.ATOMIC_FETCH_AND_ADD;
  }

  static long length(SendWorkRequest wr) {
    long length = 0;
    for (int i = 0; i < wr.sgeCount(); i++) {
      length += Integer.toUnsignedLong(wr.sgeLength(i));
    }
    return length;
  }
}
