package org.rdma4j.rxe;

import java.util.EnumSet;
import java.util.Set;
import org.rdma4j.ib.core.verbs.Access;
import org.rdma4j.ib.core.verbs.FlushPlacement;
import org.rdma4j.ib.core.verbs.FlushSelectivity;
import org.rdma4j.ib.core.verbs.MemoryRegion;
import org.rdma4j.ib.core.verbs.MemoryWindow;
import org.rdma4j.ib.core.verbs.MrType;
import org.rdma4j.ib.core.verbs.MwBindInfo;
import org.rdma4j.ib.core.verbs.MwType;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.SendFlag;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.WrOpcode;
import org.rdma4j.roce.engine.TransportState;
import org.rdma4j.roce.engine.WorkOpcode;
import org.rdma4j.rxe.ring.SendSlotReader;
import org.rdma4j.rxe.ring.SendSlotWriter;

/**
 * What a send work request must be to be posted (kernel: {@code rxe_verbs.c:validate_send_wr} and the table of {@code
 * rxe_opcode.c}; where its table has no packet for an operation, the operation is refused here). A check answers
 * null, or what is wrong; texts are made only then.
 */
final class SendRules {
  private static final Set<WrOpcode> CONNECTED =
      EnumSet.of(
          WrOpcode.RDMA_WRITE,
          WrOpcode.RDMA_WRITE_WITH_IMM,
          WrOpcode.SEND,
          WrOpcode.SEND_WITH_IMM,
          WrOpcode.BIND_MW);
  private static final Set<WrOpcode> DATAGRAM = EnumSet.of(WrOpcode.SEND, WrOpcode.SEND_WITH_IMM);
  private static final Set<WrOpcode> RELIABLE = EnumSet.copyOf(CONNECTED);

  static {
    RELIABLE.addAll(
        EnumSet.of(
            WrOpcode.SEND_WITH_INV,
            WrOpcode.RDMA_READ,
            WrOpcode.ATOMIC_CMP_AND_SWP,
            WrOpcode.ATOMIC_FETCH_AND_ADD,
            WrOpcode.ATOMIC_WRITE,
            WrOpcode.FLUSH,
            WrOpcode.LOCAL_INV,
            WrOpcode.REG_MR));
  }

  private static final Set<Access> REGION_RIGHTS =
      EnumSet.of(
          Access.LOCAL_WRITE,
          Access.REMOTE_WRITE,
          Access.REMOTE_READ,
          Access.REMOTE_ATOMIC,
          Access.MW_BIND,
          Access.FLUSH_GLOBAL,
          Access.RELAXED_ORDERING);
  private static final int QPN_BITS = 0xff_ffff;
  /** Longest length of a RETH (IBA specification C9-94). */
  private static final long MAX_FLUSH = 1L << 31;

  private final RxeDevice device;
  private final QpType type;
  private final Set<WrOpcode> opcodes;
  private final int maxSge;
  private final int maxInline;

  SendRules(RxeDevice device, QpType type, int maxSge, int maxInline) {
    this.device = device;
    this.type = type;
    this.maxSge = maxSge;
    this.maxInline = maxInline;
    this.opcodes =
        switch (type) {
          case RC, XRC_INI -> RELIABLE;
          case UC -> CONNECTED;
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

  String checkXrc(int srqNumber) {
    return srqNumber > 0 && srqNumber <= QPN_BITS
        ? null
        : "the number 0x" + Integer.toHexString(srqNumber) + " of the peer's shared receive queue is not between 1 and"
            + " 0xffffff";
  }

  int maxSge() {
    return maxSge;
  }

  int maxInline() {
    return maxInline;
  }

  /** The whole request. */
  String check(TransportState state, SendWorkRequest wr) {
    String fault = checkState(state);
    if (fault == null) {
      fault = checkOpcode(wr.opcode());
    }
    if (fault == null && isAtomic(wr.opcode())) {
      fault = checkAtomic(wr.remoteAddress(), length(wr));
    } else if (fault == null && hasNoData(wr.opcode())) {
      fault = checkPlacement(wr);
    }
    if (fault == null && isDatagram()) {
      fault = checkDatagram(wr.ah(), wr.remoteQpn());
    }
    if (fault == null && isExtended() && !WorkOpcode.isLocal(wr.opcode().number())) {
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

  String checkState(TransportState state) {
    return state.ordinal() >= TransportState.RTS.ordinal()
        ? null
        : "the state is " + state + "; sends are posted in RTS, SQD, SQE and ERR";
  }

  String checkOpcode(WrOpcode opcode) {
    return opcode != null && opcodes.contains(opcode)
        ? null
        : opcode + " is no operation of " + type + "; allowed are " + opcodes;
  }

  String checkAtomic(long address, long length) {
    if ((address & (Long.BYTES - 1)) != 0) {
      return "the remote address 0x" + Long.toHexString(address) + " of an atomic is no multiple of 8";
    }
    return length >= Long.BYTES ? null : "its buffers have " + length + " bytes; an atomic needs 8";
  }

  private String checkPlacement(SendWorkRequest wr) {
    if (wr.sgeCount() != 0 || wr.inlineData() != null || (wr.flags() & SendFlag.INLINE) != 0) {
      return "it has buffers or inline data; " + wr.opcode() + " takes none";
    }
    return wr.opcode() == WrOpcode.ATOMIC_WRITE
        ? checkAtomic(wr.remoteAddress(), Long.BYTES)
        : checkFlush(wr.flushLength(), wr.placement(), wr.selectivity());
  }

  static String checkFlush(long length, Set<FlushPlacement> placement, FlushSelectivity level) {
    if (length < 0 || length > MAX_FLUSH) {
      return "a flush of " + length + " bytes is not between 0 and " + MAX_FLUSH;
    }
    if (placement == null || placement.isEmpty()) {
      return "the flush names no placement type; there are GLOBAL and PERSISTENT";
    }
    return level == null ? "the flush names no selectivity level; there are RANGE and MEMORY_REGION" : null;
  }

  /** Whether the request is complete without data, so that any is a mistake. */
  static boolean hasNoData(WrOpcode opcode) {
    return opcode == WrOpcode.ATOMIC_WRITE || opcode == WrOpcode.FLUSH;
  }

  String checkDatagram(Object handle, int qpn) {
    if (!(handle instanceof RxeAddressHandle ah) || ah.device() != device) {
      return "the address handle is " + handle + "; a datagram needs one of this device";
    }
    return (qpn & ~QPN_BITS) == 0 ? null : "the remote QP number 0x" + Integer.toHexString(qpn) + " exceeds 24 bits";
  }

  String checkInline(WrOpcode opcode, long length) {
    if (!SendSlotReader.takesInline(opcode.number())) {
      return opcode + " carries no inline data; SEND and RDMA_WRITE do";
    }
    return length <= maxInline ? null : "it has " + length + " bytes of inline data; max_inline_data is " + maxInline;
  }

  /** Whether the window and region are ours; all else is for the engine to find, when the bind's turn comes. */
  String checkBind(MemoryWindow window, MwBindInfo info, MwType bound) {
    if (!(window instanceof RxeMemoryWindow mw) || mw.device() != device || mw.isDestroyed()) {
      return "the memory window is " + window + "; a bind needs one of this device that is not destroyed";
    }
    if (window.type() != bound) {
      return window + " is of type 1; it is bound by MemoryWindow.bind()";
    }
    if (info == null || (info.region() != null && !isOurs(info.region()))) {
      return "the bind names " + (info == null ? "nothing" : info.region()) + "; it needs a region of this device";
    }
    return null;
  }

  /** Whether the region is ours and the rights make sense; all else is for the engine to find. */
  String checkRegistration(MemoryRegion region, Set<Access> access) {
    if (region == null || !isOurs(region) || region.type() != MrType.MEM_REG) {
      return "the memory region is " + region + "; a registration needs one of type MEM_REG of this device";
    }
    if (access == null || !REGION_RIGHTS.containsAll(access)) {
      return "the rights are " + access + "; allowed are " + REGION_RIGHTS;
    }
    boolean remoteWrites = access.contains(Access.REMOTE_WRITE) || access.contains(Access.REMOTE_ATOMIC);
    return remoteWrites && !access.contains(Access.LOCAL_WRITE)
        ? "REMOTE_WRITE and REMOTE_ATOMIC need LOCAL_WRITE; asked for " + access
        : null;
  }

  static void writeRegistration(SendSlotWriter writer, MemoryRegion region, int key, Set<Access> access) {
    writer.register(((RxeMemoryRegion) region).name(), key, Access.bits(access));
  }

  private boolean isOurs(MemoryRegion region) {
    return region instanceof RxeMemoryRegion mr && mr.device() == device;
  }

  static void writeBind(SendSlotWriter writer, MemoryWindow window, int newKey, MwBindInfo info) {
    int region = info.region() == null ? 0 : info.region().lkey();
    writer.bind(
        ((RxeMemoryWindow) window).name(),
        newKey,
        region,
        info.address(),
        info.length(),
        Access.bits(info.access()));
  }

  static void writeFlush(
      SendSlotWriter writer,
      int key,
      long address,
      long length,
      Set<FlushPlacement> placement,
      FlushSelectivity level) {
    writer.flush(address, length, key, FlushPlacement.bits(placement), level.number());
  }

  String checkSgeCount(int count) {
    return count <= maxSge ? null : "it has " + count + " buffers; max_send_sge is " + maxSge;
  }

  static boolean isAtomic(WrOpcode opcode) {
    return opcode == WrOpcode.ATOMIC_CMP_AND_SWP || opcode == WrOpcode.ATOMIC_FETCH_AND_ADD;
  }

  private static long length(SendWorkRequest wr) {
    long length = 0;
    for (int i = 0; i < wr.sgeCount(); i++) {
      length += Integer.toUnsignedLong(wr.sgeLength(i));
    }
    return length;
  }
}
