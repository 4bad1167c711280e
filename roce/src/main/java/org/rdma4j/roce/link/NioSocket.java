package org.rdma4j.roce.link;

import java.io.IOException;
import java.net.BindException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.SocketOption;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.net.UnknownHostException;
import java.nio.channels.DatagramChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import org.rdma4j.roce.address.Gid;

/** A non-blocking, unconnected datagram channel bound to one local address or group, with don't-fragment set. */
final class NioSocket implements AutoCloseable {
  private final Gid gid;
  private final int port;
  private final int scope;
  private int multicastScope;
  private final DatagramChannel channel;
  private SelectionKey key;

  private NioSocket(Gid gid, int port, int scope, DatagramChannel channel) {
    this.gid = gid;
    this.port = port;
    this.scope = scope;
    this.channel = channel;
  }

  /**
   * Opens, binds and registers a channel; nothing stays open when a step fails.
   *
   * @throws LinkException EADDRINUSE, EADDRNOTAVAIL, EINVAL, or EIO for what Java does not tell apart
   */
  static NioSocket open(Selector selector, Gid gid, UdpLinkConfig config) {
    LinkAddress.requireUnicast(gid);
    int scope = gid.isLinkLocal() ? LinkAddress.scopeOf(gid, config.networkInterface()) : 0;
    return open(selector, gid, config, scope, null);
  }

  /**
   * Opens a channel that receives what is sent to a group, on one interface only; others may have joined it too.
   *
   * @throws LinkException as {@link #open}
   */
  static NioSocket openGroup(Selector selector, Gid group, UdpLinkConfig config, NetworkInterface on) {
    LinkAddress.requireMulticast(group);
    return open(selector, group, config, on.getIndex(), on);
  }

  private static NioSocket open(
      Selector selector, Gid gid, UdpLinkConfig config, int scope, NetworkInterface joinOn) {
    boolean ipv4 = gid.isIpv4Mapped();
    try {
      DatagramChannel channel =
          DatagramChannel.open(ipv4 ? StandardProtocolFamily.INET : StandardProtocolFamily.INET6);
      NioSocket socket = new NioSocket(gid, config.port(), scope, channel);
      try {
        if (joinOn != null) {
          channel.setOption(StandardSocketOptions.SO_REUSEADDR, true);
          socket.multicastScope = scope;
        }
        socket.setUp(selector, config);
        if (joinOn != null) {
          channel.join(gid.toInetAddress(), joinOn);
        }
        return socket;
      } catch (Throwable e) {
        socket.close();
        throw e;
      }
    } catch (BindException e) {
      throw socketError(isLocal(gid) ? LinkErrno.EADDRINUSE : LinkErrno.EADDRNOTAVAIL, gid, config, e);
    } catch (IOException e) {
      throw socketError(LinkErrno.EIO, gid, config, e);
    }
  }

  private static LinkException socketError(LinkErrno errno, Gid gid, UdpLinkConfig config, IOException e) {
    return errno.exception("UDP port " + config.port() + " on " + gid + " could not be opened: " + e.getMessage(), e);
  }

  /** Java has one exception for a port that is taken and an address that is not local. */
  private static boolean isLocal(Gid gid) {
    InetAddress address = gid.toInetAddress();
    try {
      return address.isLoopbackAddress() || NetworkInterface.getByInetAddress(address) != null;
    } catch (SocketException e) {
      return false;
    }
  }

  private void setUp(Selector selector, UdpLinkConfig config) throws IOException {
    channel.configureBlocking(false);
    channel.setOption(dontFragment(), true);
    channel.setOption(StandardSocketOptions.SO_RCVBUF, config.receiveBufferBytes());
    channel.setOption(StandardSocketOptions.SO_SNDBUF, config.sendBufferBytes());
    channel.bind(address(gid));
    key = channel.register(selector, SelectionKey.OP_READ);
  }

  /** {@code jdk.net.ExtendedSocketOptions.IP_DONTFRAGMENT}, by name since the package is not part of Java SE. */
  @SuppressWarnings("unchecked")
  private SocketOption<Boolean> dontFragment() {
    for (SocketOption<?> option : channel.supportedOptions()) {
      if (option.name().equals("IP_DONTFRAGMENT") && option.type() == Boolean.class) {
        return (SocketOption<Boolean>) option;
      }
    }
    throw LinkErrno.EOPNOTSUPP.exception("this Java has no IP_DONTFRAGMENT, so no ICRC can be known over IPv4");
  }

  /** The address of a peer on this link's port, as seen from this socket. */
  InetSocketAddress address(Gid peer) throws UnknownHostException {
    if (peer.isLinkLocal() || peer.isMulticast() && !peer.isIpv4Mapped()) {
      int index = peer.isMulticast() ? multicastScope : scope;
      return new InetSocketAddress(Inet6Address.getByAddress(null, peer.toByteArray(), index), port);
    }
    return new InetSocketAddress(peer.toInetAddress(), port);
  }

  /** What is sent to groups from this address leaves through this interface, as far as other packets go. */
  void sendGroupsThrough(NetworkInterface through) {
    try {
      channel.setOption(StandardSocketOptions.IP_MULTICAST_IF, through);
      channel.setOption(StandardSocketOptions.IP_MULTICAST_TTL, UdpSocket.DEFAULT_HOP_LIMIT);
      multicastScope = through.getIndex();
    } catch (IOException e) {
      throw LinkErrno.EIO.exception("groups cannot be reached from " + gid + ": " + e.getMessage(), e);
    }
  }

  Gid gid() {
    return gid;
  }

  int port() {
    return port;
  }

  DatagramChannel channel() {
    return channel;
  }

  /** Whether the selector also tells when the channel can take packets again. */
  void setBusy(boolean busy) {
    int operations = busy ? SelectionKey.OP_READ | SelectionKey.OP_WRITE : SelectionKey.OP_READ;
    if (key.interestOps() != operations) {
      key.interestOps(operations);
    }
  }

  @Override
  public void close() {
    try {
      channel.close();
    } catch (IOException e) {
      throw LinkErrno.EIO.exception("the socket of " + gid + " could not be closed", e);
    }
  }
}
