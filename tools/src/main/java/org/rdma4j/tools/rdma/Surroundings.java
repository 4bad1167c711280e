package org.rdma4j.tools.rdma;

import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.List;
import java.util.function.ToIntFunction;
import org.rdma4j.ib.core.client.LinkOperations;
import org.rdma4j.rdma.cm.CmIdResource;

/**
 * What a command works with.
 *
 * @param devices the devices of the container
 * @param linkTypes the makers of links
 * @param connections the identifiers of connections
 * @param report where listings go
 * @param details whether {@code -d} was given
 * @param netdevIndex finds the index of a network interface by its name, 0 where there is none
 */
record Surroundings(
    Devices devices,
    List<LinkOperations> linkTypes,
    List<CmIdResource> connections,
    Report report,
    boolean details,
    ToIntFunction<String> netdevIndex) {

  /** The index that the kernel gave a network interface. */
  static int kernelIndex(String netdev) {
    try {
      NetworkInterface found = netdev == null ? null : NetworkInterface.getByName(netdev);
      return found == null ? 0 : found.getIndex();
    } catch (SocketException e) {
      return 0;
    }
  }
}
