package org.rdma4j.roce.engine;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.link.Clock;
import org.rdma4j.roce.link.Fabric;
import org.rdma4j.roce.link.Route;
import org.rdma4j.roce.simulation.Trace;

/** One port: an engine, its link and its table of memory keys. */
final class TestPort implements KeyTable {
  static final int PD = 1;
  private static final int DEPTH = 64;

  final Gid gid;
  final Clock clock;
  final TestLink link;
  final Engine engine;
  final List<TestQp> queuePairs = new ArrayList<>();
  final Map<Integer, XrcReceiveSource> xrcQueues = new HashMap<>();
  final List<Throwable> faults = new ArrayList<>();
  private final List<TestMemory> memories = new ArrayList<>();
  private int nextQp;

  TestPort(String name, Fabric fabric, Clock clock, Trace trace, EngineConfig config, Gid gid, int firstQp) {
    this.gid = gid;
    this.clock = clock;
    this.nextQp = firstQp;
    link = new TestLink(fabric.endpoint(gid), trace, name);
    engine = new Engine(config, clock, link, this, (where, cause) -> faults.add(cause));
  }

  TestQp queuePair(QpKind kind) {
    return queuePair(kind, new TestReceives(false), false);
  }

  TestQp queuePair(QpKind kind, TestReceives receives, boolean signalsAll) {
    var profile =
        new QpProfile(
            kind == QpKind.GSI ? 1 : nextQp++, kind, PD, signalsAll, DEPTH, TestQp.MAX_SGE, TestQp.MAX_SGE);
    var qp = new TestQp(this, profile, receives);
    queuePairs.add(qp);
    return qp;
  }

  /** Registers memory with a key that nobody guesses, as far as a test goes. */
  TestMemory register(MemorySegment segment, int pd, int access) {
    var memory = new TestMemory((memories.size() + 1) << 8 | 0xa5 - memories.size() % 100, segment, pd, access);
    memories.add(memory);
    return memory;
  }

  TestMemory memory(long bytes) {
    return register(Arena.ofAuto().allocate(bytes, Long.BYTES), PD, TestMemory.ALL);
  }

  /** Takes the memory out of the table. */
  void deregister(TestMemory memory) {
    memory.invalidate();
    memories.set(memories.indexOf(memory), null);
  }

  @Override
  public RegisteredMemory find(int key) {
    int index = (key >>> 8) - 1;
    return index >= 0 && index < memories.size() ? memories.get(index) : null;
  }

  Route routeTo(TestPort other) {
    return link.route(gid, other.gid, 0, 0, 64);
  }

  long count(EngineCounter counter) {
    return engine.counters().get(counter);
  }
}
