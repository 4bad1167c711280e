package org.rdma4j.mlx5.device.internal;

import org.rdma4j.mlx5.ifc.Opcode;
import org.rdma4j.roce.engine.TransportState;

/** The transitions of queue pairs that bring a context with them, and which of its fields are taken over. */
enum QpTransition {
  /** From reset to initialized. */
  RESET_TO_INIT(
      Opcode.RST2INIT_QP,
      TransportState.RESET,
      TransportState.INIT,
      "primary_address_path.pkey_index",
      "primary_address_path.vhca_port_num",
      "q_key",
      "rre",
      "rwe",
      "rae",
      "atomic_mode",
      "counter_set_id",
      "pm_state"),
  /** Initialized, other attributes. */
  INIT_TO_INIT(Opcode.INIT2INIT_QP, TransportState.INIT, TransportState.INIT),
  /** From initialized to ready to receive. */
  INIT_TO_RTR(
      Opcode.INIT2RTR_QP,
      TransportState.INIT,
      TransportState.RTR,
      "mtu",
      "log_msg_max",
      "remote_qpn",
      "next_rcv_psn",
      "log_rra_max",
      "min_rnr_nak",
      "primary_address_path.grh",
      "primary_address_path.src_addr_index",
      "primary_address_path.stat_rate",
      "primary_address_path.hop_limit",
      "primary_address_path.tclass",
      "primary_address_path.flow_label",
      "primary_address_path.rgid_rip",
      "primary_address_path.dscp",
      "primary_address_path.ecn",
      "primary_address_path.udp_sport",
      "primary_address_path.eth_prio",
      "primary_address_path.sl",
      "primary_address_path.rmac_47_32",
      "primary_address_path.rmac_31_0"),
  /** From ready to receive to ready to send. */
  RTR_TO_RTS(
      Opcode.RTR2RTS_QP,
      TransportState.RTR,
      TransportState.RTS,
      "next_send_psn",
      "log_sra_max",
      "retry_count",
      "rnr_retry",
      "log_ack_req_freq",
      "primary_address_path.ack_timeout"),
  /** Ready to send, other attributes. */
  RTS_TO_RTS(Opcode.RTS2RTS_QP, TransportState.RTS, TransportState.RTS),
  /** From an error of the send queue to ready to send. */
  SQ_ERROR_TO_RTS(Opcode.SQERR2RTS_QP, TransportState.SQE, TransportState.RTS),
  /** From drained to ready to send. */
  DRAINED_TO_RTS(Opcode.SQD_RTS_QP, TransportState.SQD, TransportState.RTS);

  private final Opcode opcode;
  private final TransportState from;
  private final TransportState to;
  private final String[] fields;

  QpTransition(Opcode opcode, TransportState from, TransportState to, String... fields) {
    this.opcode = opcode;
    this.from = from;
    this.to = to;
    this.fields = fields;
  }

  Opcode opcode() {
    return opcode;
  }

  TransportState from() {
    return from;
  }

  TransportState to() {
    return to;
  }

  /** What is always taken over; the rest by the mask of optional parameters. */
  String[] fields() {
    return fields.clone();
  }
}
