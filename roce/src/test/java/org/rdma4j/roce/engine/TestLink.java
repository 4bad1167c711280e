package org.rdma4j.roce.engine;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.rdma4j.roce.link.ForwardingLink;
import org.rdma4j.roce.link.Link;
import org.rdma4j.roce.link.PacketHandler;
import org.rdma4j.roce.link.ReceivedPacket;
import org.rdma4j.roce.link.Route;
import org.rdma4j.roce.simulation.Trace;

/** A link that shows every packet to the test before it leaves, and traces what goes by. */
final class TestLink extends ForwardingLink {
  /** What becomes of a packet that is about to leave. */
  enum Fate {
    PASS,
    DROP,
    HOLD
  }

  /** Looks at a packet, and may change it. */
  @FunctionalInterface
  interface Filter {
    Fate fate(MemorySegment packet, long at, int length);
  }

  private record Held(Route route, byte[] bytes) {}

  private final Link link;
  private final Trace trace;
  private final String sends;
  private final String drops;
  private final String holds;
  private final String receives;
  private final List<Held> held = new ArrayList<>();
  private Filter filter;
  private PacketHandler handler;
  private final PacketHandler tracing = this::onPacket;
  private Route route;
  private long claimed;
  private int length;
  private boolean open;
  /** Claims that fail before one succeeds, in turn. */
  int refuse;
  int sent;
  int received;

  TestLink(Link link, Trace trace, String name) {
    super(link);
    this.link = link;
    this.trace = trace;
    this.sends = name + " >";
    this.drops = name + " x";
    this.holds = name + " |";
    this.receives = name + " <";
  }

  void filter(Filter next) {
    filter = next;
  }

  /** Sends what was held back, in order. */
  void releaseHeld() {
    var batch = List.copyOf(held);
    held.clear();
    batch.forEach(each -> inject(each.route, each.bytes));
  }

  int held() {
    return held.size();
  }

  /** Sends a packet as it is, past the filter. */
  void inject(Route to, byte[] bytes) {
    long at = link.claim(to, bytes.length);
    MemorySegment.copy(bytes, 0, link.transmitMemory(), JAVA_BYTE, at, bytes.length);
    trace.record(sends, link.transmitMemory(), at, bytes.length);
    link.commit();
    link.flush();
  }

  /** Hands the engine a packet as if it had come from the network, past all checks of a link. */
  void deliver(ReceivedPacket packet) {
    handler.onPacket(packet);
  }

  @Override
  public long claim(Route to, int packetLength) {
    if (refuse > 0) {
      refuse--;
      return -1;
    }
    route = to;
    length = packetLength;
    claimed = link.claim(to, packetLength);
    open = claimed >= 0;
    return claimed;
  }

  @Override
  public void commit() {
    MemorySegment memory = link.transmitMemory();
    open = false;
    Fate fate = filter == null ? Fate.PASS : filter.fate(memory, claimed, length);
    trace.record(fate == Fate.PASS ? sends : fate == Fate.DROP ? drops : holds, memory, claimed, length);
    switch (fate) {
      case PASS -> {
        sent++;
        link.commit();
      }
      case HOLD -> {
        held.add(new Held(route, memory.asSlice(claimed, length).toArray(JAVA_BYTE)));
        link.abort();
      }
      case DROP -> link.abort();
    }
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
    received++;
    trace.record(receives, packet.buffer(), packet.offset(), packet.length());
    handler.onPacket(packet);
  }
}
