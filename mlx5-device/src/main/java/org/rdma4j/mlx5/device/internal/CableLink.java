package org.rdma4j.mlx5.device.internal;

import org.rdma4j.mlx5.device.PacketTracer;
import org.rdma4j.roce.link.ForwardingLink;
import org.rdma4j.roce.link.Link;
import org.rdma4j.roce.link.PacketHandler;
import org.rdma4j.roce.link.Route;

/**
 * The way to the network with a cable that can be pulled: then everything is lost, both ways, before a tap in the cable
 * or a tracer sees it. Engine thread.
 */
final class CableLink extends ForwardingLink {
  private static final PacketHandler NOBODY = packet -> {};

  private final Link wire;
  private final String card;
  private final Tracing tracing;
  private volatile boolean connected = true;
  private long claimedAt; // the packet being written
  private int claimedLength;

  /** {@code wire} is the network that {@code tap} leads to. */
  CableLink(Link tap, Link wire, String card, Tracing tracing) {
    super(tap);
    this.wire = wire;
    this.card = card;
    this.tracing = tracing;
  }

  /** Any thread. */
  void connected(boolean plugged) {
    connected = plugged;
  }

  @Override
  public long claim(Route route, int length) {
    claimedAt = super.claim(route, length);
    claimedLength = length;
    return claimedAt;
  }

  @Override
  public void commit() {
    if (connected) {
      if (tracing.isOn()) {
        tracing.tracer().packet(card, true, transmitMemory(), claimedAt, claimedLength);
      }
      super.commit();
    } else {
      super.abort();
    }
  }

  @Override
  public int receive(PacketHandler handler, int limit) {
    if (!connected) {
      return wire.receive(NOBODY, limit);
    }
    if (tracing.isOn()) {
      PacketTracer tracer = tracing.tracer();
      return super.receive(
          packet -> {
            tracer.packet(card, false, packet.buffer(), packet.offset(), packet.length());
            handler.onPacket(packet);
          },
          limit);
    }
    return super.receive(handler, limit);
  }
}
