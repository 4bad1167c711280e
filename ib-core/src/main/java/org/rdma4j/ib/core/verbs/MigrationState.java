package org.rdma4j.ib.core.verbs;

/** Path migration state of a queue pair ({@code enum ib_mig_state}). */
public enum MigrationState {
  /** On the path in use. */
  MIGRATED,
  /** Wants to be armed. */
  REARM,
  /** Ready to migrate. */
  ARMED;

  /** {@return the kernel's number} */
  public int number() {
    return ordinal();
  }
}
