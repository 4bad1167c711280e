package org.rdma4j.rdma.cm.ib;

import java.util.Optional;

/** Why a message was refused (IBA volume 1, 12.6.7.2; kernel: {@code enum ib_cm_rej_reason}). */
public enum RejectReason {
  NO_QP(1, "no queue pair"),
  NO_EEC(2, "no end-to-end context"),
  NO_RESOURCES(3, "no resources"),
  TIMEOUT(4, "timeout"),
  UNSUPPORTED(5, "unsupported"),
  INVALID_COMM_ID(6, "invalid communication id"),
  INVALID_COMM_INSTANCE(7, "invalid communication instance"),
  INVALID_SERVICE_ID(8, "nobody listens on this service id"),
  INVALID_TRANSPORT_TYPE(9, "invalid transport type"),
  STALE_CONN(10, "stale connection"),
  RDC_NOT_EXIST(11, "no such reliable datagram channel"),
  INVALID_GID(12, "invalid GID"),
  INVALID_LID(13, "invalid LID"),
  INVALID_SL(14, "invalid service level"),
  INVALID_TRAFFIC_CLASS(15, "invalid traffic class"),
  INVALID_HOP_LIMIT(16, "invalid hop limit"),
  INVALID_PACKET_RATE(17, "invalid packet rate"),
  INVALID_ALT_GID(18, "invalid alternate GID"),
  INVALID_ALT_LID(19, "invalid alternate LID"),
  INVALID_ALT_SL(20, "invalid alternate service level"),
  INVALID_ALT_TRAFFIC_CLASS(21, "invalid alternate traffic class"),
  INVALID_ALT_HOP_LIMIT(22, "invalid alternate hop limit"),
  INVALID_ALT_PACKET_RATE(23, "invalid alternate packet rate"),
  PORT_CM_REDIRECT(24, "port and communication manager elsewhere"),
  PORT_REDIRECT(25, "port elsewhere"),
  INVALID_MTU(26, "invalid MTU"),
  INSUFFICIENT_RESPONDER_RESOURCES(27, "insufficient responder resources"),
  CONSUMER_DEFINED(28, "the consumer refused"),
  INVALID_RNR_RETRY(29, "invalid RNR retry count"),
  DUPLICATE_LOCAL_COMM_ID(30, "duplicate local communication id"),
  INVALID_CLASS_VERSION(31, "invalid class version"),
  INVALID_FLOW_LABEL(32, "invalid flow label"),
  INVALID_ALT_FLOW_LABEL(33, "invalid alternate flow label"),
  VENDOR_OPTION_NOT_SUPPORTED(35, "vendor option not supported");

  private final int number;
  private final String text;

  RejectReason(int number, String text) {
    this.number = number;
    this.text = text;
  }

  /** The number on the wire. */
  public int number() {
    return number;
  }

  /** The reason with a number, if the specification has one. */
  public static Optional<RejectReason> of(int number) {
    for (RejectReason each : values()) {
      if (each.number == number) {
        return Optional.of(each);
      }
    }
    return Optional.empty();
  }

  /** In words, for any number. */
  public static String text(int number) {
    return of(number).map(reason -> reason.text).orElse("unknown reason") + " (" + number + ")";
  }
}
