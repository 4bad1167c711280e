package org.rdma4j.roce.link;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.rdma4j.roce.address.Gid;

/** A route of {@link UdpLink}: the socket and the native address that its packets need. */
final class UdpRoute extends LinkRoute {
  private final UdpSocket socket;
  private final MemorySegment address;
  private boolean segmentation;

  UdpRoute(UdpLink owner, UdpSocket socket, Gid destination, int trafficClass, int flowLabel, int hopLimit) {
    super(owner, socket.gid(), destination, trafficClass, flowLabel, hopLimit);
    this.socket = socket;
    address = socket.address(Arena.ofAuto(), destination);
    segmentation = socket.hasSegmentation() && !destination.isMulticast();
  }

  UdpSocket socket() {
    return socket;
  }

  /** The {@code sockaddr} of the destination. */
  MemorySegment address() {
    return address;
  }

  /** From now on one datagram a message: the way there cannot split. */
  void refuseSegmentation() {
    segmentation = false;
  }

  /** An address that was removed and added again has another socket. */
  @Override
  boolean isSameWay(LinkRoute other) {
    return other instanceof UdpRoute route && socket == route.socket && super.isSameWay(other);
  }

  @Override
  boolean isUsable() {
    return socket.isOpen();
  }

  @Override
  boolean mayBatch() {
    return segmentation;
  }
}
