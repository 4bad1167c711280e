package org.rdma4j.roce.engine;

import java.util.ArrayDeque;

/** A receive queue as a list, a queue pair's own or shared. */
final class TestReceives implements ReceiveSource {
  private record Receive(long id, long[] addresses, int[] lengths, int[] keys) {}

  private final ArrayDeque<Receive> posted = new ArrayDeque<>();
  private final boolean shared;
  long taken;

  TestReceives(boolean shared) {
    this.shared = shared;
  }

  /** Posts a receive into one piece of memory. */
  void post(long id, TestMemory memory, long offset, int length) {
    post(id, new long[] {memory.address(offset)}, new int[] {length}, new int[] {memory.key()});
  }

  void post(long id, long[] addresses, int[] lengths, int[] keys) {
    posted.add(new Receive(id, addresses, lengths, keys));
  }

  void postEmpty(long id) {
    post(id, new long[0], new int[0], new int[0]);
  }

  int size() {
    return posted.size();
  }

  @Override
  public boolean take(ReceiveWork work) {
    Receive receive = posted.poll();
    if (receive == null) {
      return false;
    }
    taken++;
    work.id = receive.id;
    work.sge.clear();
    for (int i = 0; i < receive.addresses.length; i++) {
      work.sge.add(receive.addresses[i], receive.lengths[i], receive.keys[i]);
    }
    return true;
  }

  @Override
  public boolean isShared() {
    return shared;
  }
}
