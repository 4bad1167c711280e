package org.rdma4j.ib.core.client;

import org.rdma4j.ib.core.verbs.VerbsException;

/**
 * Why a configuration makes no device. A provider registers it as a service for as long as the configuration is there
 * and cannot be carried out, so that whoever waits for the device need not wait for nothing.
 *
 * <p>Thread safety: implementations may be called by any thread.
 */
public interface DeviceFailure {
  /** Service property: the PID of the configuration, a {@code String}. */
  String PROPERTY_PID = "ib.configuration.pid";

  /** Service property: the name that the device would have, a {@code String}. */
  String PROPERTY_DEVICE = "ib.device";

  /**
   * Tells what is wrong and what is allowed.
   *
   * @return the reason, with its errno
   */
  VerbsException reason();
}
