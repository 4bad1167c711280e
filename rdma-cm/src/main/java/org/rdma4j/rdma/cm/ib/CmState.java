package org.rdma4j.rdma.cm.ib;

/** Where a connection is, with the kernel's numbers (kernel: {@code enum ib_cm_state}). */
public enum CmState {
  IDLE,
  LISTEN,
  REQ_SENT,
  REQ_RCVD,
  MRA_REQ_SENT,
  MRA_REQ_RCVD,
  REP_SENT,
  REP_RCVD,
  MRA_REP_SENT,
  MRA_REP_RCVD,
  ESTABLISHED,
  DREQ_SENT,
  DREQ_RCVD,
  TIMEWAIT,
  SIDR_REQ_SENT,
  SIDR_REQ_RCVD;

  /** Whether this is one of some states. */
  boolean in(CmState... states) {
    for (CmState each : states) {
      if (this == each) {
        return true;
      }
    }
    return false;
  }
}
