package org.rdma4j.ib.core.mad;

import java.util.Optional;

/** Who gets the MADs of an agent (kernel: {@code ib_mad_recv_handler}). */
@FunctionalInterface
public interface MadReceiver {
  /**
   * A MAD came. On the port's own thread, one after the other; should not wait.
   *
   * @param mad what came
   * @param asked the question that it answers, where it answers one
   */
  void received(ReceivedMad mad, Optional<MadSend> asked);
}
