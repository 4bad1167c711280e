package org.rdma4j.roce.engine;

/** What happens to a queue pair outside its completions; numbers of {@code enum ib_event_type}. */
public enum QpEvent {
  /** The engine failed on this queue pair, which is in error now. */
  FATAL(1),
  /** An invalid request arrived; the queue pair is in error. */
  REQUEST_ERROR(2),
  /** A request violated the protection of memory; the queue pair is in error. */
  ACCESS_ERROR(3),
  /** The first packet arrived before the queue pair was ready to send. */
  COMMUNICATION_ESTABLISHED(4),
  /** Everything begun before the drain was asked for is complete. */
  SEND_QUEUE_DRAINED(5),
  /** In error, and no receive of the shared queue is held any more. */
  LAST_WQE_REACHED(16);

  private final int number;

  QpEvent(int number) {
    this.number = number;
  }

  /** {@return the number that verbs report} */
  public int number() {
    return number;
  }
}
