package org.rdma4j.benchmarks.speed;

import org.rdma4j.ib.core.verbs.Context;

/** A device that lives without a container, for one end of a measurement. */
public interface MeasuredDevice extends AutoCloseable {
  /**
   * Opens the device.
   *
   * @return a context of its own
   */
  Context open();

  /** Takes the device away, whatever still uses it. */
  @Override
  void close();
}
