package org.rdma4j.mlx5.core;

import org.osgi.annotation.versioning.ConsumerType;
import org.rdma4j.mlx5.ifc.EventType;

/** Hears of events of the card ({@code mlx5_notifier_register}). Called on an interrupt thread; must not block. */
@ConsumerType
public interface Mlx5EventListener {
  /**
   * Something happened to the card or one of its objects; completions and errors of completion queues go to their
   * handlers instead.
   *
   * @param event what
   */
  void event(Event event);

  /** The card is in a fatal error, or gone. On a thread of the driver. */
  void systemError();

  /**
   * An event.
   *
   * @param type what happened
   * @param subType of port changes: 1 down, 4 active, 5 initialized, 6 LID, 7 P_Key, 8 GUID, 9 client re-register
   * @param resource of queue events, what {@code number} is: 0 queue pair, 1 receive queue, 2 send queue, 6 DCT
   * @param number of queue events the queue, else 0
   * @param port of port changes the port, else 0
   */
  record Event(EventType type, int subType, int resource, int number, int port) {}
}
