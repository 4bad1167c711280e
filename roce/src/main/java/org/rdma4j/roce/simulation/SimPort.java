package org.rdma4j.roce.simulation;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.engine.Engine;
import org.rdma4j.roce.engine.EngineConfig;
import org.rdma4j.roce.engine.EngineCounter;
import org.rdma4j.roce.engine.KeyTable;
import org.rdma4j.roce.engine.RegisteredMemory;
import org.rdma4j.roce.link.Clock;
import org.rdma4j.roce.link.Fabric;
import org.rdma4j.roce.link.Route;

/** One port: an engine, its link and its table of memory keys. */
final class SimPort implements KeyTable {
  static final int PD = 1;

  final SimLink link;
  final Engine engine;
  final List<Throwable> faults = new ArrayList<>();
  private final Gid gid;
  private final List<SimMemory> memories = new ArrayList<>();

  SimPort(String name, Fabric fabric, Clock clock, Trace trace, EngineConfig config, Gid gid) {
    this.gid = gid;
    link = new SimLink(fabric.endpoint(gid), trace, name);
    engine = new Engine(config, clock, link, this, (where, cause) -> faults.add(cause));
  }

  /** Registers memory with a key that nobody guesses, as far as a simulation goes. */
  SimMemory register(MemorySegment segment, int access) {
    int index = memories.size() + 1;
    // Addresses are made up, so that a trace is the same each time.
    var memory = new SimMemory(index << 8 | 0xa5 - index % 100, segment, (long) index << 32, PD, access);
    memories.add(memory);
    return memory;
  }

  /** {@return a place in the table for memory to come} */
  int reserve() {
    memories.add(null);
    return memories.size() - 1;
  }

  /** Gives a part of a region to the peer of a queue pair (0 for any), under a new key. */
  int grant(int slot, int generation, SimMemory region, int offset, int bytes, int qp) {
    int key = slot + 1 << 8 | generation & 0xff;
    memories.set(slot, region.part(key, offset, bytes, qp));
    return key;
  }

  /** Nobody has memory at this place any more. */
  void withdraw(int slot) {
    memories.get(slot).invalidate();
    memories.set(slot, null);
  }

  /** Takes the memory out of the table. */
  void deregister(SimMemory memory) {
    memory.invalidate();
    memories.set(memories.indexOf(memory), null);
  }

  @Override
  public RegisteredMemory find(int key) {
    int index = (key >>> 8) - 1;
    return index >= 0 && index < memories.size() ? memories.get(index) : null;
  }

  Route routeTo(SimPort other) {
    return link.route(gid, other.gid, 0, 0, 64);
  }

  Route routeTo(Gid group) {
    return link.route(gid, group, 0, 0, 64);
  }

  long count(EngineCounter counter) {
    return engine.counters().get(counter);
  }
}
