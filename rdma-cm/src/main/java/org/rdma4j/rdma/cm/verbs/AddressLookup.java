package org.rdma4j.rdma.cm.verbs;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.rdma.cm.PortSpace;
import org.rdma4j.rdma.cm.verbs.AddressInfo.Flag;
import org.rdma4j.rdma.cm.verbs.AddressInfoException.Reason;

/** One lookup (librdmacm {@code addrinfo.c}): the type and the space first, then the port, then the addresses. */
final class AddressLookup {
  private static final ServiceNames SERVICES = new ServiceNames(Path.of("/etc/services"));
  private static final List<String> ALL = List.of("0.0.0.0", "::");
  private static final List<String> LOOPBACK = List.of("127.0.0.1", "::1");

  private final AddressInfo hints;
  private final QpType qpType;
  private final PortSpace portSpace;

  private AddressLookup(AddressInfo hints) {
    this.hints = hints;
    boolean datagrams =
        hints.qpType() == null
            ? hints.portSpace() == PortSpace.UDP || hints.portSpace() == PortSpace.IPOIB
            : isDatagram(hints.qpType());
    qpType = hints.qpType() != null ? hints.qpType() : datagrams ? QpType.UD : QpType.RC;
    portSpace = hints.portSpace() != null ? hints.portSpace() : datagrams ? PortSpace.UDP : PortSpace.TCP;
    if (portSpace.qpType() != null && isDatagram(portSpace.qpType()) != datagrams) {
      throw new AddressInfoException(
          Reason.SOCKTYPE, "queue pairs of type " + qpType + " for the port space " + portSpace);
    }
  }

  static List<AddressInfo> find(String node, String service, AddressInfo hints) {
    if (node == null && service == null && hints == null) {
      throw new VerbsException(Errno.EINVAL, "an address is looked up by node, service or hints; all are null");
    }
    AddressLookup lookup = new AddressLookup(hints == null ? AddressInfo.ANY : hints);
    if (node == null && service == null) {
      return List.of(lookup.completedHints());
    }
    int port = lookup.port(service);
    List<InetAddress> found = lookup.addresses(node);
    List<AddressInfo> results =
        found.stream()
            .filter(address -> hints == null || hints.family() == null || family(address) == hints.family())
            .map(address -> lookup.result(new InetSocketAddress(address, port)))
            .toList();
    if (results.isEmpty()) {
      throw new AddressInfoException(Reason.ADDRFAMILY, node + ", an address of family " + hints.family());
    }
    return results;
  }

  private AddressInfo completedHints() {
    InetSocketAddress known = hints.isPassive() ? hints.source() : hints.destination();
    StandardProtocolFamily family =
        hints.family() != null || known == null ? hints.family() : family(known.getAddress());
    return new AddressInfo(hints.flags(), family, qpType, portSpace, hints.source(), hints.destination());
  }

  private AddressInfo result(InetSocketAddress address) {
    StandardProtocolFamily family = family(address.getAddress());
    return hints.isPassive()
        ? new AddressInfo(Set.of(Flag.PASSIVE), family, qpType, portSpace, address, null)
        : new AddressInfo(Set.of(), family, qpType, portSpace, hints.source(), address);
  }

  private int port(String service) {
    if (service == null) {
      return 0;
    }
    int port = ServiceNames.number(service);
    if (port < 0) {
      port = SERVICES.port(service, isDatagram(qpType) ? "udp" : "tcp");
    }
    if (port < 0) {
      throw new AddressInfoException(Reason.SERVICE, "service " + service);
    }
    return port;
  }

  private List<InetAddress> addresses(String node) {
    if (node == null) {
      return (hints.isPassive() ? ALL : LOOPBACK).stream().map(InetAddress::ofLiteral).toList();
    }
    try {
      return List.of(InetAddress.ofLiteral(node));
    } catch (IllegalArgumentException e) {
      if (hints.flags().contains(Flag.NUMERICHOST) || node.isEmpty()) {
        throw new AddressInfoException(Reason.NONAME, "node \"" + node + "\", which is no numeric address", e);
      }
    }
    try {
      return List.of(InetAddress.getAllByName(node));
    } catch (UnknownHostException e) {
      String text = String.valueOf(e.getMessage());
      Reason reason =
          Stream.of(Reason.AGAIN, Reason.ADDRFAMILY).filter(each -> text.contains(each.text())).findFirst()
              .orElse(Reason.NONAME);
      throw new AddressInfoException(reason, "node " + node, e);
    }
  }

  private static StandardProtocolFamily family(InetAddress address) {
    return address instanceof Inet4Address ? StandardProtocolFamily.INET : StandardProtocolFamily.INET6;
  }

  private static boolean isDatagram(QpType type) {
    return type == QpType.UD;
  }
}
