package org.rdma4j.ib.core.client;

import org.osgi.annotation.versioning.ProviderType;

/**
 * A maker of links, registered as a service by providers whose devices are made on command ({@code struct
 * rdma_link_ops}, {@code rdma link add NAME type TYPE netdev NETDEV}). Safe for any thread.
 */
@ProviderType
public interface LinkOperations {
  /** {@return the link type, such as {@code rxe}} */
  String type();

  /**
   * Makes a link; returns when its device is registered.
   *
   * @param name the device's name: not empty, no {@code %}, at most 63 characters
   * @param netdev the network interface
   * @param address the only address to use of the interface, or null for all
   * @throws org.rdma4j.ib.core.verbs.VerbsException EINVAL for a bad name or address, ENODEV without such an interface,
   *     EEXIST or ENFILE for a name or interface in use, EADDRINUSE, EADDRNOTAVAIL; no half-made device is left
   */
  void newLink(String name, String netdev, String address);

  /**
   * Removes a link; returns when its device is gone.
   *
   * @param name the device's name
   * @throws org.rdma4j.ib.core.verbs.VerbsException ENODEV without such a link of this type
   */
  void deleteLink(String name);
}
