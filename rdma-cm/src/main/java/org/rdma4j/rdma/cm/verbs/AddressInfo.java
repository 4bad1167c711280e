package org.rdma4j.rdma.cm.verbs;

import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.rdma.cm.PortSpace;

/**
 * Where to listen, or whom to connect ({@code struct rdma_addrinfo}); also the hints that {@link #getAddressInfo} gets.
 * Immutable, the {@code with} methods give changed copies. In hints what is null is left to {@link #getAddressInfo};
 * its results have a family, a type and a port space.
 *
 * @param flags how to look up; of a result PASSIVE or nothing
 * @param family INET, INET6, or null for any
 * @param qpType type of the queue pairs: RC, UC, XRC or UD; null for that of the port space
 * @param portSpace which ports; null for that of the type, TCP for reliable connections
 * @param source local address; null for none
 * @param destination the peer; null on the passive side
 */
public record AddressInfo(
    Set<Flag> flags,
    StandardProtocolFamily family,
    QpType qpType,
    PortSpace portSpace,
    InetSocketAddress source,
    InetSocketAddress destination) {
  /** Hints that hint at nothing. */
  public static final AddressInfo ANY = new AddressInfo(Set.of(), null, null, null, null, null);

  /** How to look up ({@code RAI_PASSIVE} and its like). */
  public enum Flag {
    /** The results are addresses to listen on. */
    PASSIVE,
    /** The node is a numeric address; anything else is refused without asking a name server. */
    NUMERICHOST,
    /** No route is looked up. None is in any case: RoCE has none before the address is resolved. */
    NOROUTE,
    /**
     * The family says how to read the node. Means nothing here: a family that hints have counts without it, and AF_IB,
     * which librdmacm has it for, is not one of RoCE.
     */
    FAMILY
  }

  /** Copies the flags. */
  public AddressInfo {
    flags = Set.copyOf(flags);
  }

  /**
   * Looks up addresses ({@code rdma_getaddrinfo}). Other than librdmacm, which gives the first, it gives all there are,
   * in the order to try them in. Numeric nodes and a missing node are answered without a name server.
   *
   * @param node name or address of a host; null for all local addresses with PASSIVE and for loopback without, in both
   *     cases of IPv4 first
   * @param service port number, or name of a service in {@code /etc/services}; null for port 0
   * @param hints what is wanted; null for anything
   * @return at least one, each with its source or destination address as PASSIVE says, and the source of the hints.
   *     Without node and service, the hints, completed
   * @throws org.rdma4j.ib.core.verbs.VerbsException EINVAL where all three are null
   * @throws AddressInfoException where there is no such address, with the reason
   */
  public static List<AddressInfo> getAddressInfo(String node, String service, AddressInfo hints) {
    return AddressLookup.find(node, service, hints);
  }

  /** {@return whether it is one to listen on} */
  public boolean isPassive() {
    return flags.contains(Flag.PASSIVE);
  }

  /**
   * Another flag.
   *
   * @param flag added to those there are
   * @return a copy with it
   */
  public AddressInfo with(Flag flag) {
    Set<Flag> more = EnumSet.of(Objects.requireNonNull(flag, "flag"));
    more.addAll(flags);
    return new AddressInfo(more, family, qpType, portSpace, source, destination);
  }

  /**
   * Another family.
   *
   * @param other INET, INET6, or null for any
   * @return a copy with it
   */
  public AddressInfo withFamily(StandardProtocolFamily other) {
    return new AddressInfo(flags, other, qpType, portSpace, source, destination);
  }

  /**
   * Another type of queue pairs.
   *
   * @param other the type, or null for that of the port space
   * @return a copy with it
   */
  public AddressInfo withQpType(QpType other) {
    return new AddressInfo(flags, family, other, portSpace, source, destination);
  }

  /**
   * Another port space.
   *
   * @param other the space, or null for that of the type
   * @return a copy with it
   */
  public AddressInfo withPortSpace(PortSpace other) {
    return new AddressInfo(flags, family, qpType, other, source, destination);
  }

  /**
   * Another local address.
   *
   * @param other the address, or null for none
   * @return a copy with it
   */
  public AddressInfo withSource(InetSocketAddress other) {
    return new AddressInfo(flags, family, qpType, portSpace, other, destination);
  }

  /**
   * Another peer.
   *
   * @param other the address, or null for none
   * @return a copy with it
   */
  public AddressInfo withDestination(InetSocketAddress other) {
    return new AddressInfo(flags, family, qpType, portSpace, source, other);
  }
}
