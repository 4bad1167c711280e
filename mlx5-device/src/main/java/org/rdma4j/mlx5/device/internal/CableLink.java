package org.rdma4j.mlx5.device.internal;

import org.rdma4j.roce.link.ForwardingLink;
import org.rdma4j.roce.link.Link;
import org.rdma4j.roce.link.PacketHandler;

/** The way to the network with a cable that can be pulled: then everything is lost, both ways. Engine thread. */
final class CableLink extends ForwardingLink {
  private static final PacketHandler NOBODY = packet -> {};

  private volatile boolean connected = true;

  CableLink(Link link) {
    super(link);
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
    return super.receive(connected ? handler : NOBODY, limit);
  }
}
