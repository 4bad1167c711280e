package org.rdma4j.mlx5.core;

import org.osgi.annotation.versioning.ProviderType;

/** A completion queue that the card has, and its place among the events ({@code mlx5_core_cq}). */
@ProviderType
public interface CoreCompletionQueue {
  /** {@return its number, 24 bits} */
  int number();

  /** {@return how many completion events there were: its low two bits go into the next arming} */
  int armSequence();

  /** {@return the doorbell page that it is armed by} */
  UarPage uar();

  /** {@return the completion vector} */
  int vector();

  /**
   * Destroys the queue; when this returns no handler of it runs and none will.
   *
   * @throws CommandException when the card refuses; the queue gets no events any more all the same
   */
  void destroy();
}
