package org.rdma4j.rdma.cm.ib;

/** The thread of a manager, which runs everything one by one, and its clock (kernel: work queue {@code ib_cm}). */
public interface CmTimer {
  /** Runs it on the thread, after what was given before. */
  void execute(Runnable work);

  /** Runs it on the thread after some milliseconds. */
  void schedule(Runnable work, long milliseconds);

  /** {@return whether the caller is that thread} */
  boolean isCurrent();
}
