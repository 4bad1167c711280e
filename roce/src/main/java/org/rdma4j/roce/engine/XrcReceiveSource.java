package org.rdma4j.roce.engine;

/**
 * A shared receive queue of an XRC domain as the engine sees it: targets find it by the number in each request, so it
 * brings its own protection domain and completes to its own queue (IBA annex A14). Called on the engine thread.
 */
public interface XrcReceiveSource extends ReceiveSource {
  /** {@return the number of the protection domain that all memory of its requests is checked against} */
  int protectionDomain();

  /**
   * Reports the end of a receive. What ends after the queue was destroyed is not reported any more.
   *
   * @param completion valid during the call only
   * @param solicited whether the sender asked for an event
   */
  void completeReceive(Completion completion, boolean solicited);

  @Override
  default boolean isShared() {
    return true;
  }
}
