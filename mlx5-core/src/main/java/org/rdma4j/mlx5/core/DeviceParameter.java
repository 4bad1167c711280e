package org.rdma4j.mlx5.core;

/** Settings of a card that take effect when it comes up ({@code devlink dev param}, driverinit). */
public enum DeviceParameter {
  /** Entries of the event queues for completions. */
  IO_EQ_SIZE("io_eq_size", 64, 4096, 1024),
  /** Entries of the event queue for everything else. */
  EVENT_EQ_SIZE("event_eq_size", 64, 4096, 4096),
  /** Whether the function does RDMA over Ethernet. */
  ENABLE_ROCE("enable_roce", 0, 1, 1),
  /** Whether a device for RDMA is offered. */
  ENABLE_RDMA("enable_rdma", 0, 1, 1),
  /** Whether mailboxes of commands are signed, and the answers' signatures checked; Linux does not. */
  COMMAND_CHECKSUM("cmdif_checksum", 0, 1, 0);

  private final String text;
  private final int least;
  private final int most;
  private final int initial;

  DeviceParameter(String text, int least, int most, int initial) {
    this.text = text;
    this.least = least;
    this.most = most;
    this.initial = initial;
  }

  /** {@return its name for devlink} */
  public String text() {
    return text;
  }

  /** {@return the smallest value} */
  public int least() {
    return least;
  }

  /** {@return the largest value} */
  public int most() {
    return most;
  }

  /** {@return the value when nobody has set another} */
  public int initial() {
    return initial;
  }
}
