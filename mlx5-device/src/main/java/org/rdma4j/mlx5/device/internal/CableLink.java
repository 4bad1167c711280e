package org.rdma4j.mlx5.device.internal;

import org.rdma4j.roce.link.ForwardingLink;
import org.rdma4j.roce.link.Link;
import org.rdma4j.roce.link.PacketHandler;

/**
 * The way to the network with a cable that can be pulled: then everything is lost, both ways, before a tap in the cable
 * sees it. Engine thread.
 */
final class CableLink extends ForwardingLink {
  private static final PacketHandler NOBODY = packet -> {};

  private final Link wire;
  private volatile boolean connected = true;

  /** {@code wire} is the network that {@code tap} leads to. */
  CableLink(Link tap, Link wire) {
    super(tap);
    this.wire = wire;
  }

  /** Any thread. */
  void connected(boolean plugged) {
    connected = plugged;
  }

  @Override
  public void commit() {
    if (connected) {
      super.commit();
    } else {
      super.abort();
    }
  }

  @Override
  public int receive(PacketHandler handler, int limit) {
    return connected ? super.receive(handler, limit) : wire.receive(NOBODY, limit);
  }
}
