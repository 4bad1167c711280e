package org.rdma4j.roce.simulation;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.SplittableRandom;
import java.util.function.Supplier;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.engine.EngineCounter;
import org.rdma4j.roce.engine.QpEvent;
import org.rdma4j.roce.engine.QpKind;
import org.rdma4j.roce.engine.QpProfile;
import org.rdma4j.roce.engine.QpSettings;
import org.rdma4j.roce.engine.TransportState;
import org.rdma4j.roce.link.Fabric;
import org.rdma4j.roce.link.Route;
import org.rdma4j.roce.link.VirtualClock;
import org.rdma4j.roce.packet.Psn;

/**
 * Random traffic between two ports over a faulty network, decided by a seed and repeated by it: every operation,
 * several queue pairs of all services, receive queues of their own and shared, requests that are wrong, queue pairs
 * that are stopped, drained, or without receives. Whatever happens: each request is executed at most once and in
 * order, moves the right bytes, completes exactly once and with the status that it must have, and nothing remains.
 */
public final class Simulation {
  static final int DEPTH = 16;
  static final int QKEY = 0x5151;
  private static final int MEMORY_BYTES = 16 << 20;
  private static final int PATTERN_BYTES = 1 << 17;
  private static final int MAX_STEPS = 300_000;
  private static final long END_OF_TIME = 120_000_000_000L;
  private static final long MILLI = 1_000_000;
  private static final Gid[] GIDS = {Gid.parse("::ffff:192.0.2.1"), Gid.parse("::ffff:192.0.2.2")};

  /** Memory that one simulation after the other uses. */
  public static final class Memory {
    private final MemorySegment all = Arena.ofAuto().allocate(MEMORY_BYTES, 64);
    private final MemorySegment pattern = Arena.ofAuto().allocate(PATTERN_BYTES, 64);
    private long used;

    /** Makes it, for one simulation at a time. */
    public Memory() {
      var random = new SplittableRandom(0);
      for (int i = 0; i < PATTERN_BYTES; i += Long.BYTES) {
        pattern.set(JAVA_LONG, i, random.nextLong());
      }
    }

    MemorySegment take(long bytes) {
      long rounded = bytes + 63 & -64;
      used += rounded;
      return all.asSlice(used - rounded, bytes);
    }
  }

  private record Event(long time, int order, Runnable action) implements Comparable<Event> {
    @Override
    public int compareTo(Event other) {
      int byTime = Long.compare(time, other.time);
      return byTime != 0 ? byTime : Integer.compare(order, other.order);
    }
  }

  final MemorySegment pattern;
  final Trace trace;
  private final long seed;
  private final Memory memory;
  private final VirtualClock clock = new VirtualClock();
  private final SplittableRandom random;
  private final SimPlan plan;
  private final Fabric fabric;
  private final SimPort[] ports = new SimPort[2];
  private final Route[] routes = new Route[2];
  private final SimMemory[] patterns = new SimMemory[2];
  private final SimMemory[] counters = new SimMemory[2];
  private final int[] countersAdded = new int[2];
  private final List<List<Long>> countersSeen = List.of(new ArrayList<>(), new ArrayList<>());
  private final SimReceives[] shared = new SimReceives[2];
  private final List<SimReceives> receives = new ArrayList<>();
  private final List<SimQp> qps = new ArrayList<>();
  private final List<SimFlow> flows = new ArrayList<>();
  private final List<Integer> wanted = new ArrayList<>();
  private final PriorityQueue<Event> events = new PriorityQueue<>();
  private int eventsMade;
  private boolean replaced;
  private int steps;

  /**
   * Prepares a simulation.
   *
   * @param seed decides everything
   * @param memory not used by another simulation at the time
   */
  public Simulation(long seed, Memory memory) {
    this.seed = seed;
    this.memory = memory;
    this.pattern = memory.pattern;
    memory.used = 0;
    random = new SplittableRandom(seed * 0x9e37_79b9_7f4a_7c15L);
    plan = new SimPlan(random.split());
    trace = new Trace(clock, 40);
    fabric = new Fabric(random.nextLong(), clock);
    for (int i = 0; i < 2; i++) {
      ports[i] = new SimPort(i == 0 ? "a" : "b", fabric, clock, trace, plan.config, GIDS[i]);
      patterns[i] = ports[i].register(pattern, SimMemory.REMOTE_READ);
      counters[i] = ports[i].register(memory.take(8).fill((byte) 0), SimMemory.ALL);
      shared[i] = newReceives(ports[i], 4096 + 40, 12, true);
    }
    routes[0] = ports[0].routeTo(ports[1]);
    routes[1] = ports[1].routeTo(ports[0]);
    fabric.faults(plan.faults);
  }

  private SimReceives newReceives(SimPort port, int slotBytes, int slots, boolean isShared) {
    SimMemory slotMemory =
        port.register(memory.take((long) slotBytes * slots), SimMemory.LOCAL_WRITE);
    var queue = new SimReceives(slotMemory, slots, isShared);
    receives.add(queue);
    return queue;
  }

  /**
   * Runs from the beginning to the end, where everything is checked.
   *
   * @throws AssertionError when anything is not as it must be; the message has the seed and the last packets
   */
  public void run() {
    try {
      for (int i = 0; i < plan.pairs; i++) {
        int number = 0x11 + i * 0x101;
        connect(plan.kind(), plan.mtu(), number, random.nextInt(3) == 0 ? -random.nextInt(60) : random.nextInt());
      }
      drive();
      finish();
    } catch (AssertionError | RuntimeException e) {
      throw new AssertionError(report(e), e);
    }
  }

  private void connect(QpKind kind, int mtu, int number, int firstPsn) {
    SimQp[] pair = {newQp(kind, mtu, 0, number), newQp(kind, mtu, 1, number + 0x10000)};
    int region = random.nextInt(8) == 0 ? 70 * 256 + 16 : 1024 + 64 * random.nextInt(48);
    for (int i = 0; i < 2; i++) {
      SimQp from = pair[i];
      SimQp to = pair[1 - i];
      from.peer = to;
      from.onFailure = () -> after(random.nextLong(5 * MILLI), to::force);
      var flow =
          new SimFlow(
              this, from, to, to.port.register(memory.take(region), SimMemory.ALL),
              from.port.register(memory.take((long) region * DEPTH), SimMemory.LOCAL_WRITE),
              memory.take(region));
      flows.add(flow);
      wanted.add(random.nextInt(3) == 0 ? 0 : 3 + random.nextInt(40));
    }
    int depth = random.nextInt(9);
    int psn = firstPsn & Psn.MASK;
    for (int i = 0; i < 2; i++) {
      QpSettings settings = pair[i].context.settings();
      plan.settings(settings, isLossy());
      settings.mtu = mtu;
      settings.destinationQp = pair[1 - i].context.number();
      settings.route = kind.isConnected() ? routes[i] : null;
      settings.sendPsn = i == 0 ? psn : psn / 2;
      settings.receivePsn = i == 0 ? psn / 2 : psn;
      settings.maxReadAtomic = 1 + random.nextInt(depth + 1);
      settings.maxDestinationReadAtomic = 1 + depth;
    }
    makeReady(pair[0]);
    after(plan.late ? random.nextLong(3 * MILLI) : 0, () -> makeReady(pair[1]));
    if (plan.trouble) {
      trouble(pair);
    }
  }

  private SimQp newQp(QpKind kind, int mtu, int port, int number) {
    SimReceives queue =
        random.nextInt(3) == 0
            ? shared[port]
            : newReceives(ports[port], kind == QpKind.UD ? plan.config.portMtu() + 40 : 5 * mtu, 8, false);
    var profile =
        new QpProfile(number, kind, SimPort.PD, random.nextInt(4) == 0, DEPTH / (1 + random.nextInt(3)), 8, 8);
    var qp = new SimQp(ports[port], profile, queue);
    queue.owner = queue.isShared() ? null : qp;
    qps.add(qp);
    return qp;
  }

  private static void makeReady(SimQp qp) {
    if (qp.isUsable()) {
      qp.context.modify(TransportState.INIT);
      qp.context.modify(TransportState.RTR);
      qp.context.modify(TransportState.RTS);
    }
  }

  /** Something out of the ordinary happens to a pair some time. */
  private void trouble(SimQp[] pair) {
    SimQp qp = pair[random.nextInt(2)];
    long when = random.nextLong(3 * MILLI);
    switch (random.nextInt(8)) {
      case 0 -> {
        qp.onFailure = () -> { };
        after(
            when,
            () -> {
              qp.force();
              after(random.nextLong(5 * MILLI), qp.peer::force);
            });
      }
      case 1 -> {
        if (qp.context.kind() == QpKind.RC) {
          replaced = true;
          after(when, () -> pair[0].force());
          after(when + random.nextLong(MILLI / 10), () -> replace(pair));
        }
      }
      case 2 -> {
        if (qp.context.kind() == QpKind.RC) {
          after(
              when,
              () -> {
                qp.in.revoked = true;
                qp.port.deregister(qp.in.target);
              });
        }
      }
      default -> drain(qp, when);
    }
  }

  /** Ends a pair at once and makes another of the same numbers, while packets of the old one are on their way. */
  private void replace(SimQp[] pair) {
    int psn = pair[0].context.sendPsn() + (1 << 22) + random.nextInt(1 << 20);
    for (SimQp qp : pair) {
      qp.force();
      qp.receives.closed |= !qp.receives.isShared();
      wanted.set(flows.indexOf(qp.out), qp.out.ops.size());
      qp.port.engine.destroy(qp.context);
    }
    connect(QpKind.RC, plan.mtu(), pair[0].context.number(), psn);
  }

  private void drain(SimQp qp, long when) {
    after(
        when,
        () -> {
          if (qp.isUsable() && qp.context.state() == TransportState.RTS) {
            qp.draining = true;
            qp.context.modify(TransportState.SQD);
            resume(qp);
          }
        });
  }

  private void resume(SimQp qp) {
    after(
        MILLI / 5,
        () -> {
          if (qp.draining) {
            resume(qp);
          } else if (qp.isUsable()) {
            qp.context.modify(TransportState.RTS);
          }
        });
  }

  private void after(long nanos, Runnable action) {
    events.add(new Event(clock.nanoTime() + nanos, eventsMade++, action));
  }

  private void drive() {
    boolean force = false;
    while (true) {
      boolean posted = postSends(force);
      postReceives(force);
      refuseSometimes();
      int work = 0;
      for (int i = random.nextInt(2), n = 0; n < 2; i = 1 - i, n++) {
        work += ports[i].engine.doWork();
      }
      step();
      if (work > 0 || posted) {
        force = false;
        continue;
      }
      if (advance()) {
        continue;
      }
      if (isDone()) {
        return;
      }
      if (force) {
        throw new AssertionError("nothing more happens, but not all is done");
      }
      force = true;
    }
  }

  private void step() {
    if (++steps > MAX_STEPS || clock.nanoTime() > END_OF_TIME) {
      throw new AssertionError("no end after " + steps + " steps and " + clock);
    }
  }

  /** Moves the clock to what happens next; false when nothing does. */
  private boolean advance() {
    long next = fabric.nextEventTime();
    for (SimPort port : ports) {
      next = Math.min(next, port.engine.nextDeadline());
    }
    if (!events.isEmpty()) {
      next = Math.min(next, events.peek().time);
    }
    if (next == Long.MAX_VALUE) {
      return false;
    }
    clock.advanceTo(Math.max(next, clock.nanoTime()));
    while (!events.isEmpty() && events.peek().time <= clock.nanoTime()) {
      events.poll().action.run();
    }
    return true;
  }

  private void refuseSometimes() {
    if (plan.refusals && random.nextInt(20) == 0) {
      ports[random.nextInt(2)].link.refuse = 1 + random.nextInt(6);
    }
  }

  private void postReceives(boolean force) {
    for (SimReceives queue : receives) {
      SimQp owner = queue.owner;
      if (owner != null && !owner.isUsable()) {
        // One more is enough to see that it is flushed.
        if (!queue.closed && queue.post()) {
          owner.context.ring();
        }
        queue.closed = true;
        continue;
      }
      boolean more = true;
      while (more && (force || random.nextDouble() < plan.receiveChance)) {
        more = queue.post();
      }
    }
  }

  private boolean postSends(boolean force) {
    boolean posted = false;
    for (int i = 0; i < flows.size(); i++) {
      SimFlow flow = flows.get(i);
      TransportState state = flow.from.context.state();
      if (state.compareTo(TransportState.RTS) < 0 || !force && random.nextInt(4) == 0) {
        continue;
      }
      int burst = 1 + random.nextInt(8);
      int before = flow.ops.size();
      while (burst-- > 0 && flow.ops.size() < wanted.get(i) && flow.outstanding() < DEPTH) {
        flow.add(SimTraffic.next(flow, plan, random, wanted.get(i)));
        if (!flow.from.isUsable()) {
          wanted.set(i, flow.ops.size()); // One more is enough to see that it is flushed.
        }
      }
      if (flow.ops.size() > before) {
        posted = true;
        flow.from.context.ring();
      }
    }
    return posted;
  }

  private boolean isDone() {
    for (int i = 0; i < flows.size(); i++) {
      if (flows.get(i).ops.size() < wanted.get(i) || flows.get(i).outstanding() > 0) {
        return false;
      }
    }
    return true;
  }

  private void finish() {
    for (SimPort port : ports) {
      port.link.refuse = 0;
    }
    boolean anyFailed = qps.stream().anyMatch(qp -> !qp.isUsable());
    for (SimFlow flow : flows) {
      flow.checkEnd();
    }
    if (!isLossy() && !anyFailed) {
      for (SimPort port : ports) {
        check(port.count(EngineCounter.COMPLETER_RETRY_ERR) == 0, "sent again without a reason");
        check(port.count(EngineCounter.DUPLICATE_REQUEST) == 0, "duplicates on a perfect network");
      }
    }
    for (SimQp qp : qps) {
      qp.force();
    }
    do {
      for (SimPort port : ports) {
        while (port.engine.doWork() > 0) {
          step();
        }
      }
      step();
    } while (advance());
    checkNothingRemains();
  }

  private void checkNothingRemains() {
    for (SimReceives queue : receives) {
      check(queue.taken() == 0, "receives taken and not completed: " + queue.taken());
      check(queue.owner == null || queue.postedNow() == 0,
          "receives posted and not completed: " + queue.postedNow());
    }
    for (int i = 0; i < 2; i++) {
      SimPort port = ports[i];
      check(port.faults.isEmpty(), () -> "fault: " + port.faults);
      check(!port.link.isClaimOpen(), "a packet is claimed");
      check(!port.engine.hasReady() && port.engine.nextDeadline() == Long.MAX_VALUE, "the engine has work");
      checkCounter(i);
    }
    for (SimQp qp : qps) {
      check(!qp.draining, "still draining");
      check(qp.events.getOrDefault(QpEvent.FATAL, 0) == 0, "fatal event");
      check(qp.events.getOrDefault(QpEvent.LAST_WQE_REACHED, 0) == (qp.receives.isShared() ? 1 : 0), "last WQE");
      qp.port.engine.destroy(qp.context);
    }
    for (SimPort port : ports) {
      check(port.engine.queuePairs() == 0, "queue pairs remain");
      port.link.close();
    }
  }

  /** Each addition of 1 to the counter of a port found another value, and all of them made its sum. */
  private void checkCounter(int port) {
    List<Long> seen = countersSeen.get(port);
    check(seen.stream().distinct().count() == seen.size(), "two atomics found the same value");
    long value = counters[port].segment.get(JAVA_LONG, 0);
    check(value >= seen.size() && value <= countersAdded[port],
        "the counter is " + value + " after " + seen.size() + " to " + countersAdded[port] + " additions");
    check(seen.stream().allMatch(found -> found >= 0 && found < value), "an atomic found what was never there");
  }

  private static void check(boolean holds, String what) {
    if (!holds) {
      throw new AssertionError(what);
    }
  }

  private static void check(boolean holds, Supplier<String> what) {
    if (!holds) {
      throw new AssertionError(what.get());
    }
  }

  private String report(Throwable cause) {
    var text = new StringBuilder("seed " + seed + ": " + cause + "\n  repeat with -Drdma.sim.seed=" + seed + "\n  ");
    text.append(plan).append("\n  ").append(fabric.statistics()).append("\n  ").append(clock).append('\n');
    flows.forEach(flow -> text.append("  ").append(flow).append('\n'));
    return text.append(trace).toString();
  }

  Route routeOf(SimQp qp) {
    return routes[qp.port == ports[0] ? 0 : 1];
  }

  SimMemory patternAt(SimPort port) {
    return patterns[port == ports[0] ? 0 : 1];
  }

  SimMemory counterAt(SimPort port) {
    return counters[port == ports[0] ? 0 : 1];
  }

  void addsToCounter(SimPort port) {
    countersAdded[port == ports[0] ? 0 : 1]++;
  }

  void sharedCounterWas(SimPort port, long original) {
    countersSeen.get(port == ports[0] ? 0 : 1).add(original);
  }

  boolean isPerfect() {
    return plan.perfect;
  }

  boolean keepsOrder() {
    return plan.keepsOrder;
  }

  /** Whether a request may be unanswered for a while without anybody's fault. */
  boolean isLossy() {
    return !plan.perfect || plan.late || replaced;
  }

  /** No message was dropped for want of a receive. */
  boolean nothingDropped() {
    return ports[0].count(EngineCounter.DROPPED_NO_RECEIVE) + ports[1].count(EngineCounter.DROPPED_NO_RECEIVE)
            + ports[0].count(EngineCounter.DROPPED_NO_QP) + ports[1].count(EngineCounter.DROPPED_NO_QP)
        == 0;
  }

  /**
   * Adds what happened to sums by name.
   *
   * @param totals the sums
   */
  public void addTo(Map<String, Long> totals) {
    totals.merge("packets sent", fabric.statistics().sent(), Long::sum);
    totals.merge("packets lost, damaged or cut off",
        fabric.statistics().lost() + fabric.statistics().corrupted() + fabric.statistics().cut(), Long::sum);
    totals.merge("packets doubled", fabric.statistics().duplicated(), Long::sum);
    totals.merge("packets overtaken", fabric.statistics().reordered(), Long::sum);
    for (SimFlow flow : flows) {
      String service = flow.from.context.kind() + " requests: ";
      for (SimOp op : flow.ops) {
        totals.merge(service + op.status, 1L, Long::sum);
      }
    }
    for (SimPort port : ports) {
      for (EngineCounter counter : EngineCounter.values()) {
        totals.merge("counter " + counter.label(), port.count(counter), Long::sum);
      }
    }
  }
}
