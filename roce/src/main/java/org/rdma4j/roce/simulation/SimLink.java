package org.rdma4j.roce.simulation;

import org.rdma4j.roce.link.ForwardingLink;
import org.rdma4j.roce.link.Link;
import org.rdma4j.roce.link.PacketHandler;
import org.rdma4j.roce.link.ReceivedPacket;
import org.rdma4j.roce.link.Route;

/** A link that traces what goes by, and refuses to take packets now and then. */
final class SimLink extends ForwardingLink {
  private final Link link;
  private final Trace trace;
  private final String sends;
  private final String receives;
  private final PacketHandler tracing = this::onPacket;
  private PacketHandler handler;
  private long claimed;
  private int length;
  private boolean open;
  /** Claims that fail before one succeeds, in turn. */
  int refuse;

  SimLink(Link link, Trace trace, String name) {
    super(link);
    this.link = link;
    this.trace = trace;
    this.sends = name + " >";
    this.receives = name + " <";
  }

  @Override
  public long claim(Route to, int packetLength) {
    if (refuse > 0) {
      refuse--;
      return -1;
    }
    length = packetLength;
    claimed = link.claim(to, packetLength);
    open = claimed >= 0;
    return claimed;
  }

  @Override
  public void commit() {
    open = false;
    trace.record(sends, link.transmitMemory(), claimed, length);
    link.commit();
  }

  @Override
  public void abort() {
    open = false;
    link.abort();
  }

  /** Whether a packet is claimed and neither committed nor aborted. */
  boolean isClaimOpen() {
    return open;
  }

  @Override
  public int receive(PacketHandler to, int limit) {
    handler = to;
    return link.receive(tracing, limit);
  }

  private void onPacket(ReceivedPacket packet) {
    trace.record(receives, packet.buffer(), packet.offset(), packet.length());
    handler.onPacket(packet);
  }
}
