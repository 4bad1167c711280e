package org.rdma4j.mlx5.device.internal;

import java.lang.foreign.MemorySegment;
import org.rdma4j.mlx5.ifc.CompletionSyndrome;
import org.rdma4j.mlx5.ifc.Field;
import org.rdma4j.mlx5.ifc.Layouts;
import org.rdma4j.roce.engine.Completion;
import org.rdma4j.roce.engine.CompletionStatus;

/** Makes completion queue entries of what the engine reports. Engine thread; allocates nothing. */
final class CompletionWriter {
  /** Where an identifier of a send has the opcode of its work queue entry. */
  static final int OPCODE_SHIFT = 16;

  /** Bit of an identifier of a send: its completion raises a solicited event. */
  static final long SOLICITED = 1L << 24;

  private static final int REQUESTER = 0;
  private static final int RESPONDER_WRITE_IMM = 1;
  private static final int RESPONDER_SEND = 2;
  private static final int RESPONDER_SEND_IMM = 3;
  private static final int RESPONDER_SEND_INVALIDATE = 4;
  private static final int REQUESTER_ERROR = 13;
  private static final int RESPONDER_ERROR = 14;
  private static final int GRH_IN_BUFFER = 1;
  private static final int PACKET_V2_IPV6 = 1;
  private static final int PACKET_V2_IPV4 = 2;
  private static final int HEADERS_OK = 7;
  private static final int BYTE = 0xff;
  private static final int COUNTER_MASK = 0xffff;

  private static final Field GRH = Layouts.CQE.field("g");
  private static final Field PACKET_TYPE = Layouts.CQE.field("roce_packet_type");
  private static final Field REMOTE_QP = Layouts.CQE.field("remote_qp");
  private static final Field CHECKED = Layouts.CQE.field("hds_ip_ext");
  private static final Field SRQ = Layouts.CQE.field("srqn_uidx");
  private static final Field IMMEDIATE = Layouts.CQE.field("imm_inval_pkey");
  private static final Field BYTE_COUNT = Layouts.CQE.field("byte_count");
  private static final Field TIMESTAMP = Layouts.CQE.field("timestamp");
  private static final Field VENDOR = Layouts.CQE.field("vendor_syndrome");
  private static final Field SYNDROME = Layouts.CQE.field("syndrome");
  private static final Field SEND_OPCODE = Layouts.CQE.field("send_opcode");
  private static final Field QPN = Layouts.CQE.field("qpn");
  private static final Field COUNTER = Layouts.CQE.field("wqe_counter");

  private CompletionWriter() {}

  /** The end of a send of a queue pair. */
  static boolean send(CompletionQueue queue, Completion completion, int qpn) {
    MemorySegment entry = queue.begin();
    int at = queue.at();
    boolean ok = completion.status == CompletionStatus.SUCCESS;
    QPN.set(entry, at, qpn);
    SEND_OPCODE.set(entry, at, (int) (completion.id >>> OPCODE_SHIFT) & BYTE);
    COUNTER.set(entry, at, (int) completion.id & COUNTER_MASK);
    if (ok) {
      BYTE_COUNT.set(entry, at, completion.byteLength);
      TIMESTAMP.setLong(entry, at, System.nanoTime());
    } else {
      fail(entry, at, completion);
    }
    return queue.add(ok ? REQUESTER : REQUESTER_ERROR, !ok || (completion.id & SOLICITED) != 0);
  }

  /**
   * The end of a receive.
   *
   * @param queue where to
   * @param completion what the engine says
   * @param qpn number of the queue pair
   * @param srqn number of the shared queue that it came from, or 0
   * @param solicited whether the sender asked for an event
   * @return false when the entry is lost
   */
  static boolean receive(
      CompletionQueue queue, Completion completion, int qpn, int srqn, boolean solicited) {
    MemorySegment entry = queue.begin();
    int at = queue.at();
    boolean ok = completion.status == CompletionStatus.SUCCESS;
    QPN.set(entry, at, qpn);
    SRQ.set(entry, at, srqn);
    COUNTER.set(entry, at, (int) completion.id & COUNTER_MASK);
    if (!ok) {
      fail(entry, at, completion);
      return queue.add(RESPONDER_ERROR, true);
    }
    BYTE_COUNT.set(entry, at, completion.byteLength);
    TIMESTAMP.setLong(entry, at, System.nanoTime());
    IMMEDIATE.set(entry, at, completion.immediate);
    CHECKED.set(entry, at, HEADERS_OK);
    REMOTE_QP.set(entry, at, completion.sourceQp);
    GRH.set(entry, at, GRH_IN_BUFFER);
    PACKET_TYPE.set(entry, at, completion.ipv4 ? PACKET_V2_IPV4 : PACKET_V2_IPV6);
    return queue.add(opcode(completion), solicited);
  }

  private static int opcode(Completion completion) {
    if (completion.opcode == Completion.OPCODE_RECEIVE_RDMA_WITH_IMM) {
      return RESPONDER_WRITE_IMM;
    }
    if ((completion.flags & Completion.WITH_IMMEDIATE) != 0) {
      return RESPONDER_SEND_IMM;
    }
    return (completion.flags & Completion.WITH_INVALIDATE) != 0 ? RESPONDER_SEND_INVALIDATE : RESPONDER_SEND;
  }

  private static void fail(MemorySegment entry, int at, Completion completion) {
    SYNDROME.set(entry, at, syndrome(completion.status));
    VENDOR.set(entry, at, completion.check == null ? 0 : completion.check.code());
  }

  private static int syndrome(CompletionStatus status) {
    return switch (status) {
      case SUCCESS -> 0;
      case LOCAL_LENGTH_ERROR -> CompletionSyndrome.LOCAL_LENGTH_ERR.number();
      case LOCAL_QP_OPERATION_ERROR -> CompletionSyndrome.LOCAL_QP_OP_ERR.number();
      case LOCAL_PROTECTION_ERROR -> CompletionSyndrome.LOCAL_PROT_ERR.number();
      case FLUSHED -> CompletionSyndrome.WR_FLUSH_ERR.number();
      case MEMORY_WINDOW_BIND_ERROR -> CompletionSyndrome.MW_BIND_ERR.number();
      case BAD_RESPONSE -> CompletionSyndrome.BAD_RESP_ERR.number();
      case LOCAL_ACCESS_ERROR -> CompletionSyndrome.LOCAL_ACCESS_ERR.number();
      case REMOTE_INVALID_REQUEST -> CompletionSyndrome.REMOTE_INVAL_REQ_ERR.number();
      case REMOTE_ACCESS_ERROR -> CompletionSyndrome.REMOTE_ACCESS_ERR.number();
      case REMOTE_OPERATION_ERROR -> CompletionSyndrome.REMOTE_OP_ERR.number();
      case RETRY_EXCEEDED -> CompletionSyndrome.TRANSPORT_RETRY_EXC_ERR.number();
      case RNR_RETRY_EXCEEDED -> CompletionSyndrome.RNR_RETRY_EXC_ERR.number();
      case FATAL -> CompletionSyndrome.REMOTE_ABORTED_ERR.number();
    };
  }
}
