package org.rdma4j.rdma.cm.ib;

/** Who is told of what happens to an id. */
@FunctionalInterface
public interface CmHandler {
  /** What becomes of the id. */
  enum Verdict {
    /** It stays. */
    KEEP,
    /** It is destroyed, with the message that its state asks for. */
    DESTROY,
    /** It is destroyed, and a request is left without an answer: the peer asks again (kernel: {@code -ENOMEM}). */
    FORGET
  }

  /**
   * Something happened. Comes from the manager's thread, one event after the other; may call everything on the id. An
   * id that is to go is not destroyed by the handler but by what it returns.
   */
  Verdict onEvent(CmId id, CmEvent event);
}
