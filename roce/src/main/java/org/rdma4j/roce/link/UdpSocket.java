package org.rdma4j.roce.link;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.rdma4j.roce.address.Gid;

/**
 * A non-blocking, unconnected UDP socket bound to one local address or joined group, set up so that the ICRC of its
 * packets can be known: don't-fragment is set and no destination is connected, so Linux sends IPv4 identification 0
 * (net/ipv4 {@code ip_select_ident_segs}); IPv6 packets with UDP checksum 0, as {@code rdma_rxe} sends them, are let
 * in.
 */
final class UdpSocket implements AutoCloseable {
  /** Time to live and hop limit of every packet whose route does not ask for another. */
  static final int DEFAULT_HOP_LIMIT = 64;

  private static final ValueLayout.OfShort BIG_ENDIAN_SHORT = JAVA_SHORT.withOrder(ByteOrder.BIG_ENDIAN);
  private static final ValueLayout.OfInt BIG_ENDIAN_INT = JAVA_INT.withOrder(ByteOrder.BIG_ENDIAN);

  private final Linux linux;
  private final Gid gid;
  private final int port;
  private final int scope;
  private int multicastScope;
  private int fd;
  private boolean segmentation;
  private boolean ready;

  private UdpSocket(Linux linux, Gid gid, int port, int scope) {
    this.linux = linux;
    this.gid = gid;
    this.port = port;
    this.scope = scope;
  }

  /**
   * Opens and binds a socket; nothing stays open when a step fails.
   *
   * @throws LinkException with the errno of the step that failed, and the step in its message
   */
  static UdpSocket open(Linux linux, Gid gid, UdpLinkConfig config) {
    LinkAddress.requireUnicast(gid);
    int scope = gid.isLinkLocal() ? LinkAddress.scopeOf(gid, config.networkInterface()) : 0;
    UdpSocket socket = new UdpSocket(linux, gid, config.port(), scope);
    int family = gid.isIpv4Mapped() ? Linux.AF_INET : Linux.AF_INET6;
    int type = Linux.SOCK_DGRAM | Linux.SOCK_NONBLOCK | Linux.SOCK_CLOEXEC;
    socket.fd = socket.check(linux.socket(family, type, 0), "socket");
    try {
      socket.setUp(config);
      return socket;
    } catch (Throwable e) {
      socket.close();
      throw e;
    }
  }

  /**
   * Opens a socket that receives what is sent to a group, on one interface only; others may have joined it too.
   *
   * @param index of the interface
   * @throws LinkException as {@link #open}
   */
  static UdpSocket openGroup(Linux linux, Gid group, UdpLinkConfig config, int index) {
    LinkAddress.requireMulticast(group);
    UdpSocket socket = new UdpSocket(linux, group, config.port(), index);
    socket.multicastScope = index;
    int family = group.isIpv4Mapped() ? Linux.AF_INET : Linux.AF_INET6;
    int type = Linux.SOCK_DGRAM | Linux.SOCK_NONBLOCK | Linux.SOCK_CLOEXEC;
    socket.fd = socket.check(linux.socket(family, type, 0), "socket");
    try {
      socket.require(Linux.SOL_SOCKET, Linux.SO_REUSEADDR, 1, "SO_REUSEADDR");
      socket.setUp(config);
      socket.join(index);
      return socket;
    } catch (Throwable e) {
      socket.close();
      throw e;
    }
  }

  /** Without the ALL options a socket also gets what came to the group through other interfaces. */
  private void join(int index) {
    try (Arena arena = Arena.ofConfined()) {
      if (gid.isIpv4Mapped()) {
        require(Linux.SOL_IP, Linux.IP_MULTICAST_ALL, 0, "IP_MULTICAST_ALL");
        MemorySegment request = arena.allocate(Linux.IP_MREQN_SIZE, Integer.BYTES);
        request.set(BIG_ENDIAN_INT, 0, gid.ipv4());
        request.set(JAVA_INT, Linux.IMR_IFINDEX, index);
        check(linux.setOption(fd, Linux.SOL_IP, Linux.IP_ADD_MEMBERSHIP, request), "IP_ADD_MEMBERSHIP");
      } else {
        require(Linux.SOL_IPV6, Linux.IPV6_MULTICAST_ALL, 0, "IPV6_MULTICAST_ALL");
        MemorySegment request = arena.allocate(Linux.IPV6_MREQ_SIZE, Integer.BYTES);
        gid.writeTo(request, 0);
        request.set(JAVA_INT, Linux.IPV6MR_INTERFACE, index);
        check(linux.setOption(fd, Linux.SOL_IPV6, Linux.IPV6_JOIN_GROUP, request), "IPV6_JOIN_GROUP");
      }
    }
  }

  /** What is sent to groups from this address leaves through this interface, as far as other packets go. */
  void sendGroupsThrough(int index) {
    if (multicastScope == index) {
      return;
    }
    if (gid.isIpv4Mapped()) {
      require(Linux.SOL_IP, Linux.IP_MULTICAST_TTL, DEFAULT_HOP_LIMIT, "IP_MULTICAST_TTL");
      try (Arena arena = Arena.ofConfined()) {
        MemorySegment request = arena.allocate(Linux.IP_MREQN_SIZE, Integer.BYTES);
        request.set(JAVA_INT, Linux.IMR_IFINDEX, index);
        check(linux.setOption(fd, Linux.SOL_IP, Linux.IP_MULTICAST_IF, request), "IP_MULTICAST_IF");
      }
    } else {
      require(Linux.SOL_IPV6, Linux.IPV6_MULTICAST_HOPS, DEFAULT_HOP_LIMIT, "IPV6_MULTICAST_HOPS");
      require(Linux.SOL_IPV6, Linux.IPV6_MULTICAST_IF, index, "IPV6_MULTICAST_IF");
    }
    multicastScope = index;
  }

  private void setUp(UdpLinkConfig config) {
    if (gid.isIpv4Mapped()) {
      require(Linux.SOL_IP, Linux.IP_MTU_DISCOVER, Linux.IP_PMTUDISC_DO, "IP_MTU_DISCOVER");
      require(Linux.SOL_IP, Linux.IP_TTL, DEFAULT_HOP_LIMIT, "IP_TTL");
      require(Linux.SOL_IP, Linux.IP_RECVTTL, 1, "IP_RECVTTL");
      require(Linux.SOL_IP, Linux.IP_RECVTOS, 1, "IP_RECVTOS");
    } else {
      require(Linux.SOL_IPV6, Linux.IPV6_V6ONLY, 1, "IPV6_V6ONLY");
      require(Linux.SOL_IPV6, Linux.IPV6_MTU_DISCOVER, Linux.IP_PMTUDISC_DO, "IPV6_MTU_DISCOVER");
      require(Linux.SOL_IPV6, Linux.IPV6_UNICAST_HOPS, DEFAULT_HOP_LIMIT, "IPV6_UNICAST_HOPS");
      require(Linux.SOL_IPV6, Linux.IPV6_RECVHOPLIMIT, 1, "IPV6_RECVHOPLIMIT");
      require(Linux.SOL_IPV6, Linux.IPV6_FLOWINFO, 1, "IPV6_FLOWINFO");
      require(Linux.SOL_UDP, Linux.UDP_NO_CHECK6_RX, 1, "UDP_NO_CHECK6_RX");
    }
    setBuffer(Linux.SO_RCVBUFFORCE, Linux.SO_RCVBUF, config.receiveBufferBytes());
    setBuffer(Linux.SO_SNDBUFFORCE, Linux.SO_SNDBUF, config.sendBufferBytes());
    // The offloads are wishes: a kernel without them works, one packet at a time.
    segmentation = config.segmentation() && linux.setOption(fd, Linux.SOL_UDP, Linux.UDP_SEGMENT, 0) >= 0;
    if (config.coalescing()) {
      linux.setOption(fd, Linux.SOL_UDP, Linux.UDP_GRO, 1);
    }
    try (Arena arena = Arena.ofConfined()) {
      check(linux.bind(fd, address(arena, gid)), "bind");
    }
  }

  private void require(int level, int option, int value, String name) {
    check(linux.setOption(fd, level, option, value), name);
  }

  private void setBuffer(int forceOption, int option, int bytes) {
    // Beyond the system's limit only with CAP_NET_ADMIN; without it the kernel takes what the limit allows.
    if (linux.setOption(fd, Linux.SOL_SOCKET, forceOption, bytes) < 0) {
      linux.setOption(fd, Linux.SOL_SOCKET, option, bytes);
    }
  }

  private int check(int result, String step) {
    if (result < 0) {
      throw LinkException.ofErrno(-result, step + " failed for UDP port " + port + " on " + gid);
    }
    return result;
  }

  /** Makes the {@code sockaddr} of a peer on this link's port, as seen from this socket. */
  MemorySegment address(Arena arena, Gid peer) {
    MemorySegment address;
    if (gid.isIpv4Mapped()) {
      address = arena.allocate(Linux.SOCKADDR_IN_SIZE, Long.BYTES);
      address.set(JAVA_SHORT, 0, (short) Linux.AF_INET);
      address.set(BIG_ENDIAN_INT, Linux.SIN_ADDR, peer.ipv4());
    } else {
      address = arena.allocate(Linux.SOCKADDR_IN6_SIZE, Long.BYTES);
      address.set(JAVA_SHORT, 0, (short) Linux.AF_INET6);
      peer.writeTo(address, Linux.SIN6_ADDR);
      address.set(JAVA_INT, Linux.SIN6_SCOPE_ID, scopeOf(peer));
    }
    address.set(BIG_ENDIAN_SHORT, Linux.SIN_PORT, (short) port);
    return address;
  }

  private int scopeOf(Gid peer) {
    if (peer.isMulticast()) {
      return multicastScope;
    }
    return peer.isLinkLocal() ? scope : 0;
  }

  Gid gid() {
    return gid;
  }

  int port() {
    return port;
  }

  int fd() {
    return fd;
  }

  boolean isOpen() {
    return fd >= 0;
  }

  /** Whether the kernel splits datagrams for this socket ({@code UDP_SEGMENT}). */
  boolean hasSegmentation() {
    return segmentation;
  }

  /** Whether there may be packets to receive. */
  boolean isReady() {
    return ready;
  }

  void setReady(boolean value) {
    ready = value;
  }

  @Override
  public void close() {
    int open = fd;
    fd = -1;
    if (open >= 0) {
      linux.close(open);
    }
  }
}
