package org.rdma4j.ib.core.mad;

import org.rdma4j.ib.core.verbs.WcStatus;

/** Who hears what became of a MAD (kernel: {@code ib_mad_send_handler}). */
@FunctionalInterface
public interface MadSendHandler {
  /**
   * The MAD is complete; told once. On the port's own thread; should not wait.
   *
   * @param send the MAD
   * @param status SUCCESS when it left, or was answered where an answer was wanted; RESP_TIMEOUT_ERR when no answer
   *     came; WR_FLUSH_ERR when it was cancelled or the agent or device goes; another when it could not be sent
   */
  void sent(MadSend send, WcStatus status);
}
