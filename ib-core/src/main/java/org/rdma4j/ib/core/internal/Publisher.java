package org.rdma4j.ib.core.internal;

/** Makes a device known to consumers, and takes it back. */
interface Publisher {
  /**
   * Publishes.
   *
   * @param device the device, which takes users already
   * @return what withdraws it; called once, may block as long as consumers do
   */
  Runnable publish(RegisteredDevice device);
}
