package org.rdma4j.ib.core.verbs;

/** Asynchronous events with the kernel's numbers ({@code enum ib_event_type}) and rdma-core's texts. */
public enum AsyncEventType {
  /** A completion queue overflowed or broke; it is unusable. */
  CQ_ERR(Scope.CQ, "CQ error"),
  /** Catastrophic local error; the queue pair is in ERR. */
  QP_FATAL(Scope.QP, "local work queue catastrophic error"),
  /** The responder received an invalid request. */
  QP_REQ_ERR(Scope.QP, "invalid request local work queue error"),
  /** The responder received a request that violates access rights. */
  QP_ACCESS_ERR(Scope.QP, "local access violation work queue error"),
  /** The first packet came while in RTR. */
  COMM_EST(Scope.QP, "communication established"),
  /** The drain of the send queue has ended. */
  SQ_DRAINED(Scope.QP, "send queue drained"),
  /** Migrated to the alternate path. */
  PATH_MIG(Scope.QP, "path migrated"),
  /** Migration failed. */
  PATH_MIG_ERR(Scope.QP, "path migration request error"),
  /** The device is dead and will be removed. */
  DEVICE_FATAL(Scope.DEVICE, "local catastrophic error"),
  /** The port became active. */
  PORT_ACTIVE(Scope.PORT, "port active"),
  /** The link went down. */
  PORT_ERR(Scope.PORT, "port error"),
  /** The LID changed. */
  LID_CHANGE(Scope.PORT, "LID change"),
  /** The P_Key table changed. */
  PKEY_CHANGE(Scope.PORT, "P_Key change"),
  /** The subnet manager changed. */
  SM_CHANGE(Scope.PORT, "SM change"),
  /** The shared receive queue broke. */
  SRQ_ERR(Scope.SRQ, "SRQ catastrophic error"),
  /** The shared receive queue fell below its armed limit; the limit is disarmed. */
  SRQ_LIMIT_REACHED(Scope.SRQ, "SRQ limit reached"),
  /** A queue pair in ERR took its last receive of the shared queue. */
  QP_LAST_WQE_REACHED(Scope.QP, "last WQE reached"),
  /** The subnet manager asks clients to register again. */
  CLIENT_REREGISTER(Scope.PORT, "client reregistration"),
  /** The GID table changed. */
  GID_CHANGE(Scope.PORT, "GID table change"),
  /** A work queue broke. */
  WQ_FATAL(Scope.WQ, "WQ fatal error");

  /** What an event is about. */
  public enum Scope {
    /** A completion queue. */
    CQ,
    /** A queue pair. */
    QP,
    /** A shared receive queue. */
    SRQ,
    /** A work queue. */
    WQ,
    /** A port. */
    PORT,
    /** The device. */
    DEVICE
  }

  private final Scope scope;
  private final String text;

  AsyncEventType(Scope scope, String text) {
    this.scope = scope;
    this.text = text;
  }

  /** {@return the kernel's number} */
  public int number() {
    return ordinal();
  }

  /** {@return what the event is about} */
  public Scope scope() {
    return scope;
  }

  /** {@return what {@code ibv_event_type_str} says} */
  public String text() {
    return text;
  }
}
