package org.rdma4j.roce.capture;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.Queue;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.link.Link;
import org.rdma4j.roce.link.LinkCounters;
import org.rdma4j.roce.link.PacketHandler;
import org.rdma4j.roce.link.ReceivedPacket;
import org.rdma4j.roce.link.Route;

/** A link that delivers to itself what it sent, for tests of what stands before a link. */
final class LoopLink implements Link {

  private record Way(Gid source, Gid destination, int trafficClass, int flowLabel, int hopLimit) implements Route {}

  private record Sent(Route route, MemorySegment packet) {}

  private final MemorySegment memory = MemorySegment.ofArray(new byte[8192]);
  private final LinkCounters counters = new LinkCounters();
  private final Queue<Sent> committed = new ArrayDeque<>();
  private final Queue<Sent> arrived = new ArrayDeque<>();
  private Route route;
  private int length;
  private boolean closed;

  boolean isClosed() {
    return closed;
  }

  @Override
  public int maxPacketLength() {
    return 8192;
  }

  @Override
  public void addAddress(Gid gid) {
    // every address is local
  }

  @Override
  public void removeAddress(Gid gid) {
    // every address is local
  }

  @Override
  public Route route(Gid source, Gid destination, int trafficClass, int flowLabel, int hopLimit) {
    return new Way(source, destination, trafficClass, flowLabel, hopLimit);
  }

  @Override
  public MemorySegment transmitMemory() {
    return memory;
  }

  @Override
  public long claim(Route newRoute, int newLength) {
    route = newRoute;
    length = newLength;
    return 0;
  }

  @Override
  public void commit() {
    byte[] copy = memory.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE);
    committed.add(new Sent(route, MemorySegment.ofArray(copy)));
  }

  @Override
  public void abort() {
    route = null;
  }

  @Override
  public int flush() {
    int count = committed.size();
    arrived.addAll(committed);
    committed.clear();
    return count;
  }

  @Override
  public int receive(PacketHandler handler, int limit) {
    ReceivedPacket packet = new ReceivedPacket();
    int count = 0;
    for (Sent sent = arrived.poll(); sent != null; sent = arrived.poll(), count++) {
      Gid source = sent.route.source();
      Gid destination = sent.route.destination();
      packet.wrap(sent.packet, 0, (int) sent.packet.byteSize()).source(source.hi(), source.lo());
      packet.destination(destination.hi(), destination.lo());
      packet.ip(sent.route.trafficClass(), ReceivedPacket.UNKNOWN, ReceivedPacket.UNKNOWN, ReceivedPacket.UNKNOWN);
      handler.onPacket(packet);
    }
    return count;
  }

  @Override
  public void await(long timeoutNanos) {
    // never waits
  }

  @Override
  public void wakeup() {
    // nobody waits
  }

  @Override
  public LinkCounters counters() {
    return counters;
  }

  @Override
  public void close() {
    closed = true;
  }
}
