package org.rdma4j.ib.core.mad;

/** A MAD on its way (kernel: {@code struct ib_mad_send_buf}). Calls from any thread; none waits. */
public interface MadSend {
  /**
   * It need not be sent again, and no answer is waited for; it completes as flushed, unless it is complete already.
   * What was not sent at all yet is sent once (kernel: {@code ib_cancel_mad}).
   */
  void cancel();

  /**
   * Waits for the answer so long from now on, and as long after each further try (kernel: {@code ib_modify_mad}).
   *
   * @param milliseconds 0 completes it as flushed
   */
  void timeout(long milliseconds);

  /** {@return how often it was sent again} */
  int retried();
}
