package org.rdma4j.roce.link;

import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import org.rdma4j.roce.address.Gid;

/** A route of {@link NioUdpLink}. */
final class NioRoute extends LinkRoute {
  private final NioSocket socket;
  private final InetSocketAddress address;

  NioRoute(NioUdpLink owner, NioSocket socket, Gid destination, int trafficClass, int flowLabel, int hopLimit) {
    super(owner, socket.gid(), destination, trafficClass, flowLabel, hopLimit);
    this.socket = socket;
    try {
      address = socket.address(destination);
    } catch (UnknownHostException e) {
      throw LinkErrno.ENETUNREACH.exception("no route to " + destination, e);
    }
  }

  NioSocket socket() {
    return socket;
  }

  InetSocketAddress address() {
    return address;
  }

  @Override
  boolean isUsable() {
    return socket.channel().isOpen();
  }
}
