package org.rdma4j.mlx5.core.internal;

/** What the driver waits for, with how long it does when the card says nothing else (kernel: {@code lib/tout.c}). */
enum Timeout {
  FW_PRE_INIT(120_000),
  FW_PRE_INIT_ON_RECOVERY(7_200_000),
  FW_INIT(2_000),
  CMD(60_000),
  /** After a timeout in event mode, and after the command event queue was looked at. */
  CMD_EVENT_RECOVERY(5_000),
  PCI_TOGGLE(2_000),
  HEALTH_POLL_INTERVAL(2_000),
  FULL_CRDUMP(60_000),
  FW_RESET(60_000),
  FLUSH_ON_ERROR(2_000),
  PCI_SYNC_UPDATE(5_000),
  TEARDOWN(3_000),
  FSM_REACTIVATE(5_000),
  RECLAIM_PAGES(5_000);

  private final long millis;

  Timeout(long millis) {
    this.millis = millis;
  }

  long initialMillis() {
    return millis;
  }
}
