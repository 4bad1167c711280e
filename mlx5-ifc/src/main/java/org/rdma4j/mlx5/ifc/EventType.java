package org.rdma4j.mlx5.ifc;

/** Types of event queue entries that RDMA over Ethernet uses ({@code device.h}: {@code MLX5_EVENT_TYPE_*}). */
public enum EventType {
  /** A completion queue that was armed has an entry. */
  COMPLETION(0x00),
  /** The path has migrated. */
  PATH_MIGRATED(0x01),
  /** A packet has come in RTR. */
  COMMUNICATION_ESTABLISHED(0x02),
  /** The send queue is drained. */
  SQ_DRAINED(0x03),
  /** A completion queue is in error. */
  CQ_ERROR(0x04),
  /** A work queue is in error. */
  WQ_CATASTROPHIC_ERROR(0x05),
  /** The path could not migrate. */
  PATH_MIGRATION_FAILED(0x07),
  /** The card is in error. */
  INTERNAL_ERROR(0x08),
  /** Something of the port has changed. */
  PORT_CHANGE(0x09),
  /** Commands are done. */
  COMMAND_COMPLETION(0x0a),
  /** The card wants pages or gives them back. */
  PAGE_REQUEST(0x0b),
  /** The vport has changed. */
  NIC_VPORT_CHANGE(0x0d),
  /** The peer has sent an invalid request. */
  WQ_INVALID_REQUEST(0x10),
  /** The peer has touched what it must not. */
  WQ_ACCESS_ERROR(0x11),
  /** A shared receive queue is in error. */
  SRQ_CATASTROPHIC_ERROR(0x12),
  /** The last receive of a queue pair in error was taken from its shared queue. */
  SRQ_LAST_WQE(0x13),
  /** A shared receive queue has fewer entries than its limit. */
  SRQ_LIMIT(0x14),
  /** Something general. */
  GENERAL(0x22);

  private final int number;

  EventType(int number) {
    this.number = number;
  }

  /** {@return the number, also that of its bit in the mask of an event queue} */
  public int number() {
    return number;
  }

  /**
   * Finds a type.
   *
   * @param number the number
   * @return the type, or null when the number is none of these
   */
  public static EventType of(int number) {
    for (EventType each : values()) {
      if (each.number == number) {
        return each;
      }
    }
    return null;
  }
}
