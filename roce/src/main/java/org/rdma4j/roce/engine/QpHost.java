package org.rdma4j.roce.engine;

/**
 * What a queue pair asks of the provider that holds its rings. Everything is called on the engine thread and must
 * neither block nor throw.
 */
public interface QpHost {
  /**
   * Looks for a send work request.
   *
   * @param index position in the order of posting, counted from 0 and never wrapping
   * @param work filled with a copy of the request
   * @return false when nothing is posted at that position yet
   */
  boolean fetchSend(long index, SendWork work);

  /**
   * Frees ring slots.
   *
   * @param index every request before this position is complete
   */
  void releaseSend(long index);

  /**
   * Reports the end of a send.
   *
   * @param completion valid during the call only
   */
  void completeSend(Completion completion);

  /**
   * Reports the end of a receive.
   *
   * @param completion valid during the call only
   * @param solicited whether the sender asked for an event
   */
  void completeReceive(Completion completion, boolean solicited);

  /**
   * Executes a bind, a local invalidate or a fast registration.
   *
   * @param work the request
   * @return {@link FailedCheck#NONE} when done
   */
  FailedCheck executeLocal(SendWork work);

  /**
   * Invalidates a key at the peer's request.
   *
   * @param key remote key named in the IETH
   * @param protectionDomain the domain it must be of
   * @return {@link FailedCheck#NONE} when done
   */
  FailedCheck invalidate(int key, int protectionDomain);

  /**
   * Finds a shared receive queue for a request to the target of an extended reliable connection.
   *
   * @param srqNumber the number in the XRCETH, 24 bits
   * @return the queue, or null where the XRC domain of this queue pair has none of the number
   */
  default XrcReceiveSource xrcReceives(int srqNumber) {
    return null;
  }

  /**
   * Reports an asynchronous event.
   *
   * @param event what happened
   */
  void event(QpEvent event);

  /**
   * The queue pair has entered a state by itself; completions that tell of the reason come after.
   *
   * @param state {@link TransportState#ERR}, or {@link TransportState#SQE}
   */
  void entered(TransportState state);
}
