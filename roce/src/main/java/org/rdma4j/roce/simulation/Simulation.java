package org.rdma4j.roce.simulation;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.engine.EngineCounter;
import org.rdma4j.roce.engine.QpEvent;
import org.rdma4j.roce.engine.QpKind;
import org.rdma4j.roce.engine.QpProfile;
import org.rdma4j.roce.engine.QpSettings;
import org.rdma4j.roce.engine.TransportState;
import org.rdma4j.roce.link.Fabric;
import org.rdma4j.roce.link.FabricFault;
import org.rdma4j.roce.link.FabricStatistics;
import org.rdma4j.roce.link.Route;
import org.rdma4j.roce.link.VirtualClock;
import org.rdma4j.roce.packet.Psn;

/**
 * Random traffic between two ports over a faulty network, decided by a seed and repeated by it: every operation,
 * several queue pairs of all services, receive queues of their own and shared, requests that are wrong, queue pairs
 * that are stopped, drained, or without receives. Whatever happens: each request is executed at most once and in
 * order, moves the right bytes, completes exactly once and with the status that it must have, and nothing remains.
 *
 * <p>Every pair, flow and receive queue has its own source of chance, so that one can be left out without a change of
 * what the others do.
 */
final class Simulation {
  static final int DEPTH = 16;
  static final int QKEY = 0x5151;
  private static final int MEMORY_BYTES = 16 << 20;
  private static final int PATTERN_BYTES = 1 << 17;
  private static final int MAX_STEPS = 300_000;
  private static final long END_OF_TIME = 120_000_000_000L;
  private static final long MILLI = 1_000_000;
  /** A pair that takes the place of another is numbered so much higher. */
  private static final int REPLACEMENT = 100;
  private static final Gid[] GIDS = {Gid.parse("::ffff:192.0.2.1"), Gid.parse("::ffff:192.0.2.2")};

  /** Memory that one simulation after the other uses. */
  static final class Memory {
    private final MemorySegment all = Arena.ofAuto().allocate(MEMORY_BYTES, 64);
    private final MemorySegment pattern = Arena.ofAuto().allocate(PATTERN_BYTES, 64);
    private long used;

    Memory() {
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
  final Parts parts;
  final Tally tally = new Tally();
  private final Memory memory;
  private final VirtualClock clock = new VirtualClock();
  private final SplittableRandom random;
  private final long pairSeed;
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
  private final List<SimListener> listeners = new ArrayList<>();
  private final PriorityQueue<Event> events = new PriorityQueue<>();
  private final boolean refuses;
  private final double receiveChance;
  private int eventsMade;
  private boolean replaced;
  private int steps;
  private int maxSteps = MAX_STEPS;
  /** Looks at each request that has ended well; for tests, which find it wrong. */
  Consumer<SimOp> inspector = op -> {};

  /** Prepares a simulation that keeps so many lines of its trace, and takes notes when they are many. */
  Simulation(long seed, Memory memory, Parts parts, int traceLines, boolean takesNotes) {
    this.memory = memory;
    this.parts = parts;
    this.pattern = memory.pattern;
    memory.used = 0;
    random = new SplittableRandom(mix(seed));
    plan = new SimPlan(random.split());
    trace = new Trace(clock, traceLines, takesNotes);
    fabric = new Fabric(random.nextLong(), clock);
    for (int i = 0; i < 2; i++) {
      ports[i] = new SimPort(i == 0 ? "a" : "b", fabric, clock, trace, plan.config, GIDS[i]);
      ports[i].engine.setPkeys(SimPlan.PKEYS);
      patterns[i] = ports[i].register(pattern, SimMemory.REMOTE_READ);
      counters[i] = ports[i].register(memory.take(8).fill((byte) 0), SimMemory.ALL);
      shared[i] = newReceives(ports[i], 4096 + 40, 12, true, random.split());
    }
    routes[0] = ports[0].routeTo(ports[1]);
    routes[1] = ports[1].routeTo(ports[0]);
    pairSeed = random.nextLong();
    refuses = plan.refusals && parts.has(Part.of(Part.Kind.REFUSALS, 0));
    receiveChance =
        plan.receiveChance < 1 && parts.has(Part.of(Part.Kind.SCARCITY, 0)) ? plan.receiveChance : 1;
    fabric.faults(plan.faults);
    fabric.filter(this::hasFault);
  }

  /** Neighbouring seeds have nothing in common. */
  private static long mix(long value) {
    long mixed = (value ^ value >>> 30) * 0xbf58_476d_1ce4_e5b9L;
    mixed = (mixed ^ mixed >>> 27) * 0x94d0_49bb_1331_11ebL;
    return mixed ^ mixed >>> 31;
  }

  private boolean hasFault(Gid source, Gid destination, long copy, FabricFault fault, boolean drawn) {
    int direction = source.equals(GIDS[0]) ? 0 : 1;
    int way = destination.isMulticast() ? 2 + (int) destination.lo() & 0xff : direction;
    boolean happens = parts.hasFault(Part.fault(way, copy, fault), drawn);
    if (happens) {
      trace.note(() -> (direction == 0 ? "a" : "b") + " > " + fault + " of packet " + copy / 2);
    }
    return happens;
  }

  private SimReceives newReceives(
      SimPort port, int slotBytes, int slots, boolean isShared, SplittableRandom chance) {
    SimMemory slotMemory = port.register(memory.take((long) slotBytes * slots), SimMemory.LOCAL_WRITE);
    var queue = new SimReceives(slotMemory, slots, isShared, chance);
    receives.add(queue);
    return queue;
  }

  /**
   * Runs from the beginning to the end, where everything is checked.
   *
   * @throws AssertionError when anything is not as it must be
   */
  void run() {
    for (int i = 0; i < plan.pairs; i++) {
      if (parts.has(Part.of(Part.Kind.PAIR, i))) {
        SplittableRandom chance = chanceOf(i);
        int firstPsn = chance.nextInt(3) == 0 ? -chance.nextInt(60) : chance.nextInt();
        connect(i, chance, SimPlan.kind(chance), 0x11 + i * 0x101, firstPsn);
      }
    }
    drive();
    finish();
  }

  private SplittableRandom chanceOf(int pair) {
    return new SplittableRandom(mix(pairSeed + pair));
  }

  private void connect(int id, SplittableRandom chance, QpKind kind, int number, int firstPsn) {
    int mtu = SimPlan.mtu(chance);
    QpKind[] kinds = {kind, kind};
    if (kind == QpKind.XRC_INI) {
      kinds[chance.nextInt(2)] = QpKind.XRC_TGT;
    }
    SimQp[] pair = {newQp(chance, kinds[0], mtu, 0, number), newQp(chance, kinds[1], mtu, 1, number + 0x10000)};
    int region = chance.nextInt(8) == 0 ? 70 * 256 + 16 : 1024 + 64 * chance.nextInt(48);
    for (int i = 0; i < 2; i++) {
      SimQp from = pair[i];
      SimQp to = pair[1 - i];
      from.peer = to;
      long delay = chance.nextLong(5 * MILLI);
      from.onFailure = () -> after(delay, to::force);
      var flow =
          new SimFlow(
              2 * id + i, this, chance.split(), from, to,
              to.port.register(memory.take(region), SimMemory.ALL),
              from.port.register(memory.take((long) region * DEPTH), SimMemory.LOCAL_WRITE), memory.take(region));
      int wanted = chance.nextInt(3) == 0 ? 0 : 3 + chance.nextInt(40);
      flow.wanted = kinds[i] == QpKind.XRC_TGT ? 0 : wanted;
      flows.add(flow);
    }
    int pkey = SimPlan.pkeyIndex(chance);
    int limited = pkey == 1 ? chance.nextInt(4) : 0;
    int depth = chance.nextInt(9);
    int psn = firstPsn & Psn.MASK;
    for (int i = 0; i < 2; i++) {
      QpSettings settings = pair[i].context.settings();
      SimPlan.settings(chance, settings, isLossy());
      settings.mtu = mtu;
      settings.destinationQp = pair[1 - i].context.number();
      settings.route = kind.isConnected() ? routes[i] : null;
      settings.sendPsn = i == 0 ? psn : psn / 2;
      settings.receivePsn = i == 0 ? psn / 2 : psn;
      settings.pkeyIndex = limited == i + 1 ? 2 : pkey;
      pair[i].context.takePkey();
      settings.maxReadAtomic = 1 + chance.nextInt(depth + 1);
      settings.maxDestinationReadAtomic = 1 + depth;
    }
    if (kind == QpKind.UD) {
      group(id, pair[0].in, chance);
    }
    makeReady(pair[0]);
    long delay = chance.nextLong(3 * MILLI);
    boolean late = plan.late && parts.has(Part.of(Part.Kind.LATE, id));
    if (late) {
      after(delay / 2, () -> makeReceive(pair[1]));
    }
    after(late ? delay : 0, () -> makeReady(pair[1]));
    if (plan.trouble && parts.has(Part.of(Part.Kind.TROUBLE, id))) {
      trouble(id, chance, pair);
    }
  }

  /** What is sent by the flow goes to a group now and then, in which its target is and another queue pair. */
  private void group(int id, SimFlow flow, SplittableRandom chance) {
    Gid group = Gid.parse("::ffff:239.0.113." + (id + 1));
    SimPort port = flow.to.port;
    SimReceives queue = newReceives(port, plan.config.portMtu() + 40, 8, false, chance.split());
    queue.closed = true; // It posts by itself.
    var profile = new QpProfile(flow.to.context.number() + 0x20000, QpKind.UD, SimPort.PD, true, 1, 1, 8);
    flow.listener = new SimListener(flow, queue, profile);
    flow.group = flow.from.port.routeTo(group);
    listeners.add(flow.listener);
    port.engine.groups().attach(group, flow.to.context);
    port.engine.groups().attach(group, flow.listener.context);
    QpSettings settings = flow.listener.context.settings();
    settings.qkey = QKEY;
    settings.pkeyIndex = flow.to.context.settings().pkeyIndex;
    flow.listener.context.takePkey();
    for (TransportState state : List.of(TransportState.INIT, TransportState.RTR, TransportState.RTS)) {
      flow.listener.context.modify(state);
    }
  }

  private SimQp newQp(SplittableRandom chance, QpKind kind, int mtu, int port, int number) {
    boolean extended = kind == QpKind.XRC_INI || kind == QpKind.XRC_TGT;
    boolean isShared = chance.nextInt(3) == 0 || extended;
    SplittableRandom receiveChance = chance.split();
    SimReceives queue =
        isShared
            ? shared[port]
            : newReceives(
                ports[port], kind == QpKind.UD ? plan.config.portMtu() + 40 : 5 * mtu, 8, false, receiveChance);
    var profile =
        new QpProfile(number, kind, SimPort.PD, chance.nextInt(4) == 0, DEPTH / (1 + chance.nextInt(3)), 8, 8);
    var qp = new SimQp(ports[port], profile, queue);
    queue.owner = isShared ? null : qp;
    qp.extended = kind == QpKind.XRC_TGT ? new SimXrcReceives(queue, ports[port], qps) : null;
    qp.onSendFailure =
        () -> {
          happened("send queue failed alone");
          resume(qp);
        };
    qps.add(qp);
    return qp;
  }

  private static void makeReceive(SimQp qp) {
    if (qp.isUsable()) {
      qp.context.modify(TransportState.INIT);
      qp.context.modify(TransportState.RTR);
    }
  }

  private static void makeReady(SimQp qp) {
    if (qp.context.state() == TransportState.RESET) {
      makeReceive(qp);
    }
    if (qp.isUsable()) {
      qp.context.modify(TransportState.RTS);
    }
  }

  /** Something out of the ordinary happens to a pair some time. */
  private void trouble(int id, SplittableRandom chance, SimQp[] pair) {
    SimQp qp = pair[chance.nextInt(2)];
    long when = chance.nextLong(3 * MILLI);
    long later = chance.nextLong(5 * MILLI);
    boolean reliable = qp.context.kind().isReliable();
    switch (chance.nextInt(10)) {
      case 0 -> {
        qp.onFailure = () -> { };
        happen(
            when,
            "queue pair stopped",
            () -> {
              qp.force();
              after(later, qp.peer::force);
            });
      }
      case 1 -> {
        if (reliable && id < REPLACEMENT) {
          replaced = true;
          after(when, () -> pair[0].force());
          happen(when + later / 50, "pair replaced", () -> replace(id + REPLACEMENT, chance, pair));
        }
      }
      case 2 -> {
        if (reliable) {
          happen(
              when,
              "memory taken away",
              () -> {
                qp.in.revoked = true;
                qp.port.deregister(qp.in.target);
              });
        }
      }
      case 3 -> happen(when, "receive with a wrong key", qp.receives::spoilNext);
      case 4 -> {
        if (!plan.perfect) {
          happen(
              when,
              "P_Key changed",
              () -> {
                qp.port.engine.setPkeys(SimPlan.OTHER_PKEYS);
                after(later, () -> qp.port.engine.setPkeys(SimPlan.PKEYS));
              });
        }
      }
      default -> drain(qp, when);
    }
  }

  /** Ends a pair at once and makes another of the same numbers, while packets of the old one are on their way. */
  private void replace(int id, SplittableRandom chance, SimQp[] pair) {
    int psn = pair[0].context.sendPsn() + (1 << 22) + chance.nextInt(1 << 20);
    for (SimQp qp : pair) {
      qp.force();
      qp.receives.closed |= !qp.receives.isShared();
      qp.out.end();
      qp.port.engine.destroy(qp.context);
    }
    QpKind kind = pair[0].context.kind() == QpKind.RC ? QpKind.RC : QpKind.XRC_INI;
    connect(id, chance, kind, pair[0].context.number(), psn);
  }

  private void drain(SimQp qp, long when) {
    after(
        when,
        () -> {
          if (qp.isUsable() && qp.context.state() == TransportState.RTS) {
            qp.draining = true;
            happened("send queue drained");
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
          } else {
            qp.resume();
          }
        });
  }

  private void happen(long nanos, String what, Runnable action) {
    after(
        nanos,
        () -> {
          happened(what);
          action.run();
        });
  }

  private void happened(String what) {
    trace.note(() -> what);
    tally.add(Tally.FAULTS, what, 1);
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
        work += work(ports[i]);
      }
      step();
      if (work > 0 || posted) {
        force = false;
        continue;
      }
      if (advance()) {
        continue;
      }
      if (flows.stream().allMatch(SimFlow::isDone)) {
        return;
      }
      if (force) {
        throw new AssertionError("nothing more happens, but not all is done");
      }
      force = true;
    }
  }

  /** The engine lets nothing out that is thrown inside, so what its hosts find wrong comes out here. */
  private static int work(SimPort port) {
    int work = port.engine.doWork();
    if (!port.faults.isEmpty()) {
      Throwable fault = port.faults.getFirst();
      throw fault instanceof AssertionError found ? found : new AssertionError("fault in the engine: " + fault, fault);
    }
    return work;
  }

  private void step() {
    if (++steps > maxSteps || clock.nanoTime() > END_OF_TIME) {
      throw new AssertionError("no end after " + steps + " steps and " + clock);
    }
  }

  /** Gives up after so many duty cycles. */
  void limit(int most) {
    maxSteps = most;
  }

  /** Duty cycles so far. */
  int steps() {
    return steps;
  }

  /** What was done to packets so far. */
  FabricStatistics network() {
    return fabric.statistics();
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
    if (random.nextInt(20) == 0 && refuses) {
      ports[random.nextInt(2)].link.refuse = 1 + random.nextInt(6);
      tally.add(Tally.FAULTS, "link full", 1);
    }
  }

  private void postReceives(boolean force) {
    listeners.forEach(SimListener::listen);
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
      boolean more = !queue.closed;
      while (more && (force || queue.random.nextDouble() < receiveChance)) {
        more = queue.post();
      }
    }
  }

  private boolean postSends(boolean force) {
    boolean posted = false;
    for (SimFlow flow : flows) {
      TransportState state = flow.from.context.state();
      if (state.compareTo(TransportState.RTS) < 0 || !flow.mayPost() || (flow.random.nextInt(4) == 0 && !force)) {
        continue;
      }
      int before = flow.ops.size();
      for (int burst = 1 + flow.random.nextInt(8); burst > 0 && flow.mayPost(); burst--) {
        flow.post(plan);
      }
      if (flow.ops.size() > before) {
        posted = true;
        flow.from.context.ring();
      }
    }
    return posted;
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
    listeners.forEach(SimListener::end);
    do {
      for (SimPort port : ports) {
        while (work(port) > 0) {
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
      boolean shares = qp.receives.isShared() && qp.context.kind() != QpKind.XRC_INI;
      check(qp.events.getOrDefault(QpEvent.LAST_WQE_REACHED, 0) == (shares ? 1 : 0), "last WQE");
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

  /** The plan, what became of it, and the last lines of the trace. */
  String report() {
    var text = new StringBuilder();
    text.append("  ").append(plan).append("\n  ").append(fabric.statistics()).append("\n  ").append(clock).append('\n');
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

  /** Parts played, of one kind. */
  long played(Part.Kind kind) {
    return parts.seen().stream().filter(part -> part.kind() == kind).count();
  }

  /** What was played. */
  Set<Part> parts() {
    return parts.seen();
  }

  /** Sums of what happened, once it has ended. */
  Tally tally() {
    FabricStatistics network = fabric.statistics();
    tally.add(Tally.COUNTERS, Tally.PACKETS, network.sent());
    tally.add(Tally.FAULTS, "packet lost", network.lost());
    tally.add(Tally.FAULTS, "packet damaged", network.corrupted());
    tally.add(Tally.FAULTS, "packet doubled", network.duplicated());
    tally.add(Tally.FAULTS, "packet overtaken", network.reordered());
    tally.add(Tally.FAULTS, "packet cut off", network.cut());
    tally.add(Tally.FAULTS, "queue pair late", played(Part.Kind.LATE));
    for (SimFlow flow : flows) {
      QpKind kind = flow.from.context.kind();
      for (SimOp op : flow.ops) {
        tally.add(Tally.OPERATIONS, kind + " " + op.name(), 1);
        tally.add(Tally.COMPLETIONS, "send " + kind + " " + op.status, 1);
        if (op.flaw != SimOp.Flaw.NONE) {
          tally.add(Tally.FAULTS, "flaw " + op.flaw, 1);
        }
      }
    }
    for (SimQp qp : qps) {
      qp.events.forEach((event, count) -> tally.add(Tally.EVENTS, event.name(), count));
    }
    for (SimPort port : ports) {
      for (EngineCounter counter : EngineCounter.values()) {
        tally.add(Tally.COUNTERS, counter.label(), port.count(counter));
      }
    }
    return tally;
  }
}
