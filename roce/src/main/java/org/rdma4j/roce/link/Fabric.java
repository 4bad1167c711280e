package org.rdma4j.roce.link;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.rdma4j.roce.address.Gid;

/**
 * A network in memory that loses, duplicates, damages, delays and reorders packets as its {@link FaultPlan}s say, the
 * same way each time for the same seed and the same traffic. Packets carry real ICRCs, so damage is noticed as on a
 * wire.
 *
 * <p>Under a {@link VirtualClock} nothing happens by itself and {@link Link#await} does not wait. Who drives a
 * simulation lets every engine work until none has anything to do, then moves the clock to the earliest of {@link
 * #nextEventTime()} and the engines' timers, and starts over: a link receives what is due when it is asked to. Under
 * another clock the links wait in real time and each may have its own thread.
 *
 * <p>Thread-safe. The faults are repeatable only when one thread does everything.
 */
public final class Fabric {
  private static final int MAX_FLIPPED_BITS = 3;

  /** Bytes of IPv4 and UDP header, and of IPv6 and UDP header. */
  private static final int IPV4_HEADERS = 28;

  private static final int IPV6_HEADERS = 48;

  /** The byte of the BTH that the ICRC does not cover. */
  private static final int UNCOVERED_BYTE = 4;

  private final long seed;
  private final Clock clock;
  private final Map<Gid, FabricLink> links = new HashMap<>();
  private final Map<Gid, Set<FabricLink>> groups = new HashMap<>();
  private final Map<Gid, Map<Gid, Direction>> directions = new HashMap<>();
  private final PriorityQueue<Transit> inFlight = new PriorityQueue<>();
  private final ArrayDeque<Transit> free = new ArrayDeque<>();
  private FaultPlan commonPlan = FaultPlan.NONE;
  private FaultFilter filter;
  private long sequence;

  private long sent;
  private long delivered;
  private long lost;
  private long duplicated;
  private long corrupted;
  private long reordered;
  private long cut;
  private long unreachable;
  private long overflowed;

  /**
   * Makes a fabric under its own virtual clock.
   *
   * @param seed decides all chances
   */
  public Fabric(long seed) {
    this(seed, new VirtualClock());
  }

  /**
   * Makes a fabric under a clock.
   *
   * @param seed decides all chances
   * @param clock a {@link VirtualClock} for a simulation, {@link Clock#SYSTEM} for real time
   */
  public Fabric(long seed, Clock clock) {
    this.seed = seed;
    this.clock = clock;
  }

  /**
   * Returns the seed.
   *
   * @return the number that repeats what happened
   */
  public long seed() {
    return seed;
  }

  /**
   * Returns the clock that packets travel by.
   *
   * @return the clock given or made at the start
   */
  public Clock clock() {
    return clock;
  }

  /**
   * Connects a new link.
   *
   * @param addresses what it receives on from the start; more can be added
   * @return the link
   * @throws LinkException EADDRINUSE when another link has one of the addresses; EINVAL for other than unicast
   */
  public Link endpoint(Gid... addresses) {
    FabricLink link = new FabricLink(this, clock instanceof VirtualClock);
    try {
      for (Gid gid : addresses) {
        link.addAddress(gid);
      }
      return link;
    } catch (RuntimeException e) {
      link.close();
      throw e;
    }
  }

  /**
   * Sets the faults of all directions, those set before included.
   *
   * @param plan what happens from now on
   */
  public synchronized void faults(FaultPlan plan) {
    commonPlan = plan;
    directions.values().forEach(from -> from.values().forEach(direction -> direction.plan = plan));
  }

  /**
   * Sets the faults of one direction.
   *
   * @param source where packets come from
   * @param destination where they go to
   * @param plan what happens to them from now on
   */
  public synchronized void faults(Gid source, Gid destination, FaultPlan plan) {
    direction(source, destination).plan = plan;
  }

  /**
   * Sets who has the last word on every fault.
   *
   * @param next decides from now on, or null to leave it to plans and chance
   */
  public synchronized void filter(FaultFilter next) {
    filter = next;
  }

  /**
   * Cuts both directions between two addresses. Packets on the way still arrive.
   *
   * @param one an address
   * @param other another
   */
  public synchronized void partition(Gid one, Gid other) {
    direction(one, other).cut = true;
    direction(other, one).cut = true;
  }

  /**
   * Joins again what {@link #partition} cut.
   *
   * @param one an address
   * @param other another
   */
  public synchronized void heal(Gid one, Gid other) {
    direction(one, other).cut = false;
    direction(other, one).cut = false;
  }

  /**
   * Returns when the next packet arrives.
   *
   * @return nanoseconds on the fabric's clock, {@link Long#MAX_VALUE} when none is on the way; packets that have
   *     arrived and wait for their link's receive do not count
   */
  public synchronized long nextEventTime() {
    Transit next = inFlight.peek();
    return next == null ? Long.MAX_VALUE : next.arrival;
  }

  /**
   * Brings the packets that arrive up to a time to their links, where they wait for {@link Link#receive}. Does not
   * move the clock. Links do this by themselves for the present time.
   *
   * @param time nanoseconds on the fabric's clock
   * @return how many packets arrived
   */
  public synchronized int deliverUntil(long time) {
    int arrived = 0;
    for (Transit next = inFlight.peek(); next != null && next.arrival <= time; next = inFlight.peek()) {
      inFlight.remove();
      arrived++;
      FabricLink link = receiver(next);
      if (link == null) {
        unreachable++;
        free.add(next);
      } else if (link.arrive(next)) {
        delivered++;
      } else {
        overflowed++;
        free.add(next);
      }
    }
    return arrived;
  }

  /**
   * Returns what became of the packets so far.
   *
   * @return a snapshot
   */
  public synchronized FabricStatistics statistics() {
    return new FabricStatistics(
        sent, delivered, lost, duplicated, corrupted, reordered, cut, unreachable, overflowed);
  }

  synchronized void attach(Gid gid, FabricLink link) {
    if (links.putIfAbsent(gid, link) != null) {
      throw LinkErrno.EADDRINUSE.exception(gid + " is the address of a link of this fabric already");
    }
  }

  synchronized void detach(Gid gid) {
    links.remove(gid);
  }

  synchronized void join(Gid group, FabricLink link) {
    groups.computeIfAbsent(group, gid -> new LinkedHashSet<>()).add(link);
  }

  synchronized void leave(Gid group, FabricLink link) {
    members(group).remove(link);
    if (members(group).isEmpty()) {
      groups.remove(group);
    }
  }

  private Set<FabricLink> members(Gid group) {
    return groups.getOrDefault(group, Set.of());
  }

  /** Where a packet arrives; null when nobody is there. */
  private FabricLink receiver(Transit transit) {
    Gid destination = transit.direction.destination;
    if (!destination.isMulticast()) {
      return links.get(destination);
    }
    FabricLink member = transit.member;
    return member != null && members(destination).contains(member) ? member : null;
  }

  synchronized Direction direction(Gid source, Gid destination) {
    return directions
        .computeIfAbsent(source, gid -> new HashMap<>())
        .computeIfAbsent(destination, gid -> new Direction(seed, source, destination, commonPlan));
  }

  synchronized void release(Transit transit) {
    free.add(transit);
  }

  /** Takes a packet with its ICRC from a link. Each member of a group gets its own, with its own luck. */
  synchronized void transmit(FabricRoute route, MemorySegment memory, int offset, int datagram) {
    Gid destination = route.destination();
    if (!destination.isMulticast() || members(destination).isEmpty()) {
      transmit(route, null, memory, offset, datagram);
      return;
    }
    for (FabricLink member : members(destination)) {
      transmit(route, member, memory, offset, datagram);
    }
  }

  private void transmit(FabricRoute route, FabricLink member, MemorySegment memory, int offset, int datagram) {
    Direction direction = route.direction();
    FaultPlan plan = direction.plan;
    long now = clock.nanoTime();
    sent++;
    long copy = 2 * direction.packets++;
    if (happens(direction, copy, FabricFault.CUT, direction.cut || plan.isOutage(now))) {
      cut++;
    } else if (happens(direction, copy, FabricFault.LOSS, direction.happens(plan.loss()))) {
      lost++;
    } else {
      long departure = departure(direction, plan, now, datagram);
      send(route, member, departure, copy, memory, offset, datagram);
      if (happens(direction, copy, FabricFault.DUPLICATION, direction.happens(plan.duplication()))) {
        duplicated++;
        send(route, member, departure, copy + 1, memory, offset, datagram);
      }
    }
  }

  private boolean happens(Direction direction, long copy, FabricFault fault, boolean drawn) {
    return filter == null ? drawn : filter.happens(direction.source, direction.destination, copy, fault, drawn);
  }

  private static long departure(Direction direction, FaultPlan plan, long now, int datagram) {
    if (plan.bytesPerSecond() == 0) {
      return now;
    }
    int bytes = datagram + (direction.source.isIpv4Mapped() ? IPV4_HEADERS : IPV6_HEADERS);
    long nanos = bytes * TimeUnit.SECONDS.toNanos(1) / plan.bytesPerSecond();
    direction.busyUntil = Math.max(direction.busyUntil, now) + nanos;
    return direction.busyUntil;
  }

  private void send(
      FabricRoute route, FabricLink member, long departure, long copy, MemorySegment memory, int offset, int datagram) {
    Direction direction = route.direction();
    FaultPlan plan = direction.plan;
    Transit transit = free.poll();
    if (transit == null) {
      transit = new Transit();
    }
    MemorySegment.copy(memory, offset, transit.memory, 0, datagram);
    transit.direction = direction;
    transit.member = member;
    transit.datagram = datagram;
    transit.trafficClass = route.trafficClass();
    transit.hopLimit = route.hopLimit();
    transit.flowLabel = route.flowLabel();
    transit.sequence = sequence++;
    if (happens(direction, copy, FabricFault.CORRUPTION, direction.happens(plan.corruption()))) {
      corrupted++;
      damage(transit);
    }
    long arrival = departure + plan.delayNanos();
    if (plan.jitterNanos() > 0) {
      arrival += direction.random.nextLong(plan.jitterNanos() + 1);
    }
    arrival = Math.max(arrival, direction.lastArrival);
    if (happens(direction, copy, FabricFault.REORDERING, direction.happens(plan.reordering()))) {
      reordered++;
      arrival += plan.reorderNanos();
    } else {
      direction.lastArrival = arrival;
    }
    transit.arrival = arrival;
    inFlight.add(transit);
    FabricLink receiver = receiver(transit);
    if (receiver != null) {
      receiver.packetIsComing();
    }
  }

  /** Flips different bits, few enough that a CRC-32 notices for certain at these lengths. */
  private static void damage(Transit transit) {
    Direction direction = transit.direction;
    int flips = 1 + direction.random.nextInt(MAX_FLIPPED_BITS);
    int bit = direction.random.nextInt(transit.datagram * Byte.SIZE);
    for (int i = 0; i < flips; i++) {
      if (bit / Byte.SIZE == UNCOVERED_BYTE) {
        bit += Byte.SIZE;
      }
      byte old = transit.memory.get(JAVA_BYTE, bit / Byte.SIZE);
      transit.memory.set(JAVA_BYTE, bit / Byte.SIZE, (byte) (old ^ 1 << bit % Byte.SIZE));
      // At least one further and never all the way round, so no bit is flipped back.
      bit = (bit + 1 + direction.random.nextInt(transit.datagram)) % (transit.datagram * Byte.SIZE);
    }
  }

  @Override
  public String toString() {
    return "fabric of seed " + seed + " at " + clock.nanoTime() + " ns";
  }
}
