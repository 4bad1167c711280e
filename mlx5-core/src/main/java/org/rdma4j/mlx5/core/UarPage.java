package org.rdma4j.mlx5.core;

import org.osgi.annotation.versioning.ProviderType;

/** A page of doorbell registers ({@code mlx5_uars_page}). Safe for any thread; ringing neither blocks nor allocates. */
@ProviderType
public interface UarPage {
  /** {@return the number by which contexts name it} */
  int index();

  /**
   * Rings the completion queue doorbell, which arms it.
   *
   * @param command sequence number, command and consumer index, as in the doorbell record
   * @param cqn the completion queue
   */
  void armCompletionQueue(int command, int cqn);

  /**
   * Rings the event queue doorbell.
   *
   * @param eqn the event queue
   * @param consumerIndex 24 bits
   * @param arm whether the next event is to interrupt
   */
  void updateEventQueue(int eqn, int consumerIndex, boolean arm);
}
