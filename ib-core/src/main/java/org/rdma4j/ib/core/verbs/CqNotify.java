package org.rdma4j.ib.core.verbs;

/** Which completions raise the next event of a completion queue ({@code enum ib_cq_notify_flags}). */
public enum CqNotify {
  /** Solicited completions and those in error. */
  SOLICITED,
  /** Any completion. */
  NEXT_COMP
}
