package org.rdma4j.roce.engine;

/** A receive queue as the engine sees it: a queue pair's own, or one shared by many. Called on the engine thread. */
public interface ReceiveSource {
  /**
   * Takes the oldest receive.
   *
   * @param work filled with a copy of the request
   * @return false when none is posted
   */
  boolean take(ReceiveWork work);

  /** {@return whether the queue is shared, so that an error of one queue pair does not flush it} */
  boolean isShared();
}
