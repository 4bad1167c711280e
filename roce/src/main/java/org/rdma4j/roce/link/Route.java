package org.rdma4j.roce.link;

import org.rdma4j.roce.address.Gid;

/**
 * A way from a local address to a remote one, prepared once by {@link Link#route} and used for every packet to there.
 *
 * <p>Immutable to its user, bound to the link that made it. Holds no resource that outlives the link.
 */
public interface Route {
  /**
   * Returns the local address that packets are sent from.
   *
   * @return the source GID
   */
  Gid source();

  /**
   * Returns the address that packets are sent to.
   *
   * @return the destination GID
   */
  Gid destination();

  /**
   * Returns the IPv4 TOS or IPv6 traffic class asked for.
   *
   * @return 0 to 255
   */
  int trafficClass();

  /**
   * Returns the IPv4 time to live or IPv6 hop limit asked for.
   *
   * @return 1 to 255
   */
  int hopLimit();

  /**
   * Returns the IPv6 flow label asked for.
   *
   * @return 0 to 0xfffff
   */
  int flowLabel();
}
