package org.rdma4j.provider.contract;

import org.osgi.annotation.versioning.ConsumerType;

/**
 * How a vendor takes the first device of the suite away while it is in use, and brings it back: by stopping a bundle,
 * deleting a configuration, pulling a card out of its slot. The other device may go with it. Called by one thread at a
 * time.
 */
@ConsumerType
public interface Plug {
  /**
   * Takes the device away. Returns when it is gone: no service, nothing of it left.
   *
   * @throws Exception where that does not work, which is a failure of the case
   */
  void takeOut() throws Exception;

  /**
   * Brings the device back. Returns when it can be used; {@link Ends} then gives the new device.
   *
   * @throws Exception where that does not work, which is a failure of the case
   */
  void putBack() throws Exception;
}
