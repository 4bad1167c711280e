package org.rdma4j.rdma.cm.internal.cma;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.rdma.cm.PortSpace;

/** Who has which port of which space (kernel: {@code cma_get_port}). Guarded by who has it. */
final class PortTable<T extends PortTable.User> {
  private static final int FIRST_UNPRIVILEGED = 1024;

  /** Somebody with a port. */
  interface User {
    /** The local address, perhaps unspecified. */
    InetAddress address();

    /** Where its packets go, or null. */
    InetSocketAddress destination();

    boolean reusesAddress();

    boolean isFamilyOnly();
  }

  private final Map<PortSpace, Map<Integer, List<T>>> spaces = new EnumMap<>(PortSpace.class);
  private final LocalPorts local;
  private final RandomGenerator random;
  private int last;

  PortTable(LocalPorts local, RandomGenerator random) {
    this.local = local;
    this.random = random;
  }

  /** Gives a port, any free one for 0; which one it is. */
  int bind(T user, PortSpace space, int port) {
    Map<Integer, List<T>> ports = spaces.computeIfAbsent(space, each -> new HashMap<>());
    int given = port == 0 ? any(user, space, ports) : port;
    if (port != 0) {
      if (port < FIRST_UNPRIVILEGED && !local.mayHavePrivileged()) {
        throw new VerbsException(
            Errno.EACCES, "port %d of %s is below %d and needs privilege".formatted(port, space, FIRST_UNPRIVILEGED));
      }
      check(user, space, port, ports.getOrDefault(port, List.of()), user.reusesAddress());
    }
    ports.computeIfAbsent(given, each -> new ArrayList<>()).add(user);
    return given;
  }

  /** One that listens has its port for itself, whatever it allowed before. */
  void checkListen(T user, PortSpace space, int port) {
    check(user, space, port, at(space, port), false);
  }

  private void check(T user, PortSpace space, int port, List<T> others, boolean reuses) {
    for (T other : others) {
      if (other == user || reuses && other.reusesAddress()) {
        continue;
      }
      if (user.isFamilyOnly() && other.isFamilyOnly() && isIpv4(user) != isIpv4(other)) {
        continue;
      }
      if (user.address().isAnyLocalAddress() || other.address().isAnyLocalAddress()) {
        throw new VerbsException(
            Errno.EADDRNOTAVAIL,
            "port %d of %s is taken: %s wants it and %s has it"
                .formatted(port, space, text(user.address()), text(other.address())));
      }
      if (user.address().equals(other.address())) {
        throw new VerbsException(
            Errno.EADDRINUSE, "port %d of %s at %s is taken".formatted(port, space, text(user.address())));
      }
    }
  }

  private static String text(InetAddress address) {
    return address.isAnyLocalAddress() ? "all addresses" : address.getHostAddress();
  }

  private static boolean isIpv4(User user) {
    return user.address() instanceof Inet4Address;
  }

  private int any(T user, PortSpace space, Map<Integer, List<T>> ports) {
    int count = local.last() - local.first() + 1;
    int start = random.nextInt(count);
    for (int i = 0; i < count; i++) {
      int port = local.first() + (start + i) % count;
      if (port != last && isUnique(user, ports.getOrDefault(port, List.of()))) {
        last = port;
        return port;
      }
    }
    throw new VerbsException(
        Errno.EADDRNOTAVAIL, "all ports of %s from %d to %d are taken".formatted(space, local.first(), local.last()));
  }

  /** Whether addresses and ports of both ends tell it from all others. */
  private static boolean isUnique(User user, Collection<? extends User> others) {
    for (User other : others) {
      if (user.destination() == null
          || other.destination() == null
          || user.address().isAnyLocalAddress()
          || other.address().isAnyLocalAddress()
          || user.address().equals(other.address()) && user.destination().equals(other.destination())) {
        return false;
      }
    }
    return true;
  }

  /** Who has a port. */
  List<T> at(PortSpace space, int port) {
    return spaces.getOrDefault(space, Map.of()).getOrDefault(port, List.of());
  }

  /** Takes it back. */
  void release(T user, PortSpace space, int port) {
    Map<Integer, List<T>> ports = spaces.getOrDefault(space, Map.of());
    List<T> users = ports.get(port);
    if (users != null && users.remove(user) && users.isEmpty()) {
      ports.remove(port);
    }
  }

  /** Whether nobody has any. */
  boolean isEmpty() {
    return spaces.values().stream().allMatch(Map::isEmpty);
  }
}
