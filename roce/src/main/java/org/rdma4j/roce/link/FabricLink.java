package org.rdma4j.roce.link;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import org.rdma4j.roce.address.Gid;

/** A link of a {@link Fabric}. */
final class FabricLink implements Link {
  private static final int TRANSMIT_BYTES = 256 * 1024;
  private static final int MAX_MESSAGES = 512;

  /** Most packets that wait for {@link #receive}, as a socket's buffer holds about so many. */
  private static final int QUEUE_LIMIT = 4096;

  private final Fabric fabric;
  private final boolean virtualTime;
  private final LinkCounters counters = new LinkCounters();
  private final TransmitBatch batch;
  private final MemorySegment receiveMemory = Arena.ofAuto().allocate(Transit.MEMORY_SIZE, Long.BYTES);
  private final PacketCheck check = new PacketCheck(receiveMemory, IcrcCheck.STRICT, counters);
  private final ReceivedPacket packet = new ReceivedPacket();
  private final Map<Gid, Address> addresses = new HashMap<>();
  private final Set<Gid> groups = new HashSet<>();
  private final Doorbell doorbell = new Doorbell(this::unpark);

  /** Packets that have arrived; guarded by the fabric. */
  private final ArrayDeque<Transit> arrived = new ArrayDeque<>();

  /** Packets dropped for want of room and not counted yet; guarded by the fabric. */
  private long drops;

  private volatile Thread waiter;
  private boolean closed;

  /** An address of this link, and whether it still is. */
  static final class Address {
    boolean attached = true;
  }

  FabricLink(Fabric fabric, boolean virtualTime) {
    this.fabric = fabric;
    this.virtualTime = virtualTime;
    MemorySegment memory = Arena.ofAuto().allocate(TRANSMIT_BYTES, Long.BYTES);
    batch = new TransmitBatch(this, memory, UdpLinkConfig.ROCE_PORT, UdpLink.MAX_PACKET_LENGTH, MAX_MESSAGES);
  }

  @Override
  public int maxPacketLength() {
    return UdpLink.MAX_PACKET_LENGTH;
  }

  @Override
  public void addAddress(Gid gid) {
    requireOpen();
    LinkAddress.requireUnicast(gid);
    fabric.attach(gid, this);
    addresses.put(gid, new Address());
  }

  @Override
  public void removeAddress(Gid gid) {
    requireOpen();
    Address address = addresses.remove(gid);
    if (address == null) {
      throw LinkErrno.EADDRNOTAVAIL.exception(gid + " is no address of this link");
    }
    address.attached = false;
    synchronized (fabric) {
      fabric.detach(gid);
      arrived.removeIf(transit -> transit.direction.destination.equals(gid));
    }
  }

  @Override
  public void joinGroup(Gid group) {
    requireOpen();
    LinkAddress.requireMulticast(group);
    if (groups.contains(group)) {
      throw LinkErrno.EADDRINUSE.exception(group + " has been joined by this link already");
    }
    if (addresses.keySet().stream().noneMatch(each -> each.isIpv4Mapped() == group.isIpv4Mapped())) {
      throw LinkErrno.EADDRNOTAVAIL.exception(group + " cannot be joined without an address of its family");
    }
    fabric.join(group, this);
    groups.add(group);
  }

  @Override
  public void leaveGroup(Gid group) {
    requireOpen();
    if (!groups.remove(group)) {
      throw LinkErrno.EADDRNOTAVAIL.exception(group + " was not joined by this link");
    }
    synchronized (fabric) {
      fabric.leave(group, this);
      arrived.removeIf(transit -> transit.direction.destination.equals(group));
    }
  }

  @Override
  public Route route(Gid source, Gid destination, int trafficClass, int flowLabel, int hopLimit) {
    requireOpen();
    Address address = addresses.get(source);
    if (address == null) {
      throw LinkErrno.EADDRNOTAVAIL.exception("no route from " + source + ": it is no address of this link");
    }
    Direction direction = fabric.direction(source, destination);
    return new FabricRoute(this, address, direction, trafficClass, flowLabel, hopLimit);
  }

  private void requireOpen() {
    if (closed) {
      throw LinkErrno.EBADF.exception("the link is closed");
    }
  }

  @Override
  public MemorySegment transmitMemory() {
    return batch.memory();
  }

  @Override
  public long claim(Route route, int length) {
    return closed ? -1 : batch.claim(route, length);
  }

  @Override
  public void commit() {
    batch.commit();
  }

  @Override
  public void abort() {
    batch.abort();
  }

  @Override
  public int flush() {
    int taken = 0;
    while (!closed && !batch.isEmpty()) {
      FabricRoute route = (FabricRoute) batch.route(batch.first());
      if (route.isUsable()) {
        int datagram = batch.length(batch.first());
        fabric.transmit(route, batch.memory(), batch.offset(batch.first()), datagram);
        counters.increment(LinkCounter.PACKETS_SENT);
        counters.add(LinkCounter.BYTES_SENT, datagram - PacketSeal.ICRC_LENGTH);
        taken++;
      } else {
        counters.increment(LinkCounter.SEND_ERRORS);
      }
      batch.take(1);
    }
    if (taken > 0) {
      counters.increment(LinkCounter.SEND_CALLS);
    }
    return taken;
  }

  /** Takes a packet that arrives, under the fabric's lock; false when there is no room. */
  boolean arrive(Transit transit) {
    if (arrived.size() == QUEUE_LIMIT) {
      drops++;
      return false;
    }
    arrived.add(transit);
    return true;
  }

  /** A packet is on its way to here: a wait may have to end earlier than it thought. */
  void packetIsComing() {
    if (!virtualTime) {
      doorbell.ring();
    }
  }

  private void unpark() {
    LockSupport.unpark(waiter);
  }

  @Override
  public int receive(PacketHandler handler, int limit) {
    int delivered = 0;
    while (!closed && delivered < limit) {
      Transit transit = next();
      if (transit == null) {
        break;
      }
      MemorySegment.copy(transit.memory, 0, receiveMemory, 0, transit.datagram);
      boolean accepted = accept(transit);
      fabric.release(transit);
      if (accepted) {
        delivered++;
        handler.onPacket(packet);
      }
    }
    if (delivered > 0) {
      counters.increment(LinkCounter.RECEIVE_CALLS);
    }
    return delivered;
  }

  private Transit next() {
    synchronized (fabric) {
      fabric.deliverUntil(fabric.clock().nanoTime());
      counters.add(LinkCounter.NETWORK_DROPS, drops);
      drops = 0;
      return arrived.poll();
    }
  }

  private boolean accept(Transit transit) {
    int length = transit.datagram - PacketSeal.ICRC_LENGTH;
    Gid source = transit.direction.source;
    Gid destination = transit.direction.destination;
    int port = UdpLinkConfig.ROCE_PORT;
    // The fabric numbers no packets, so the identification is known to be 0 and the check is complete.
    int identification =
        check.check(0, length, source.hi(), source.lo(), port, destination.hi(), destination.lo(), port, 0);
    if (identification == PacketCheck.REFUSED) {
      return false;
    }
    counters.increment(LinkCounter.PACKETS_RECEIVED);
    counters.add(LinkCounter.BYTES_RECEIVED, length);
    packet
        .wrap(receiveMemory, 0, length)
        .source(source.hi(), source.lo())
        .destination(destination.hi(), destination.lo())
        .ip(
            transit.trafficClass,
            transit.hopLimit,
            destination.isIpv4Mapped() ? ReceivedPacket.UNKNOWN : transit.flowLabel,
            identification);
    return true;
  }

  @Override
  public void await(long timeoutNanos) {
    waiter = Thread.currentThread();
    if (closed || !doorbell.beginWait()) {
      return;
    }
    try {
      long nanos = virtualTime ? 0 : Math.min(timeoutNanos, nanosToNextPacket());
      if (nanos > 0) {
        LockSupport.parkNanos(this, nanos);
      }
    } finally {
      doorbell.endWait();
    }
  }

  private long nanosToNextPacket() {
    synchronized (fabric) {
      if (!arrived.isEmpty()) {
        return 0;
      }
      long next = fabric.nextEventTime();
      return next == Long.MAX_VALUE ? Long.MAX_VALUE : next - fabric.clock().nanoTime();
    }
  }

  @Override
  public void wakeup() {
    doorbell.ring();
  }

  @Override
  public LinkCounters counters() {
    return counters;
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    doorbell.close();
    synchronized (fabric) {
      for (Map.Entry<Gid, Address> entry : addresses.entrySet()) {
        entry.getValue().attached = false;
        fabric.detach(entry.getKey());
      }
      groups.forEach(each -> fabric.leave(each, this));
      for (Transit transit = arrived.poll(); transit != null; transit = arrived.poll()) {
        fabric.release(transit);
      }
    }
  }
}
