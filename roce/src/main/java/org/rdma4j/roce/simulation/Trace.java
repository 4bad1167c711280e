package org.rdma4j.roce.simulation;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.rdma4j.roce.link.Clock;
import org.rdma4j.roce.packet.PacketFormatter;

/** The last packets of several links, for the report of a failure; for one thread. */
public final class Trace {
  private static final int HEADER_BYTES = 64;

  private final Clock clock;
  private final int capacity;
  private final MemorySegment headers;
  private final int[] lengths;
  private final long[] times;
  private final String[] whats;
  private long count;

  /**
   * Makes an empty one.
   *
   * @param clock dates the packets
   * @param capacity how many packets are kept
   */
  public Trace(Clock clock, int capacity) {
    this.clock = clock;
    this.capacity = capacity;
    headers = Arena.ofAuto().allocate((long) capacity * HEADER_BYTES);
    lengths = new int[capacity];
    times = new long[capacity];
    whats = new String[capacity];
  }

  /**
   * Keeps the headers of a packet.
   *
   * @param what where it is seen, and what becomes of it
   * @param packet memory with the packet
   * @param at offset of its BTH
   * @param length bytes from BTH to pad
   */
  public void record(String what, MemorySegment packet, long at, int length) {
    int slot = (int) (count++ % capacity);
    times[slot] = clock.nanoTime();
    whats[slot] = what;
    lengths[slot] = length;
    MemorySegment.copy(packet, at, headers, (long) slot * HEADER_BYTES, Math.min(length, HEADER_BYTES));
  }

  /** Forgets all packets. */
  public void clear() {
    count = 0;
  }

  /** One line for each packet, oldest first. */
  @Override
  public String toString() {
    var text = new StringBuilder();
    for (long i = Math.max(0, count - capacity); i < count; i++) {
      int slot = (int) (i % capacity);
      text.append(String.format("%12.3f us %s ", times[slot] / 1000.0, whats[slot]));
      PacketFormatter.append(text, headers, (long) slot * HEADER_BYTES, lengths[slot]).append('\n');
    }
    return text.toString();
  }
}
