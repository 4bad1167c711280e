package org.rdma4j.mlx5.core;

import org.osgi.annotation.versioning.ConsumerType;

/** What happens to a completion queue of the card. Called on an interrupt thread; must not block. */
@ConsumerType
public interface CompletionHandler {
  /** The queue was armed and has an entry now; it is not armed any more. */
  void completed();

  /**
   * The queue is in error: it overflowed, or could not be written.
   *
   * @param syndrome 1 overrun, 2 write failure
   */
  void failed(int syndrome);
}
