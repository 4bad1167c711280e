package org.rdma4j.ib.core.verbs;

import java.util.Locale;

/** Kinds of tracked objects ({@code enum rdma_restrack_type}). */
public enum ResourceType {
  /** Protection domain. */
  PD,
  /** Completion queue. */
  CQ,
  /** Queue pair. */
  QP,
  /** Connection identifier; the core has none, the connection manager lists its own. */
  CM_ID,
  /** Memory region. */
  MR,
  /** User context. */
  CTX,
  /** Shared receive queue. */
  SRQ;

  /** {@return the name {@code rdma resource} prints} */
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }
}
