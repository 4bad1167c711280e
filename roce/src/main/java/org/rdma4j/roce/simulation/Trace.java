package org.rdma4j.roce.simulation;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.function.Supplier;
import org.rdma4j.roce.link.Clock;
import org.rdma4j.roce.packet.PacketFormatter;

/** The last packets of several links, for the report of a failure, and notes between them; for one thread. */
public final class Trace {
  private static final int HEADER_BYTES = 64;
  private static final int NOTE = -1;

  private final Clock clock;
  private final int capacity;
  private final boolean takesNotes;
  private final MemorySegment headers;
  private final int[] lengths;
  private final long[] times;
  private final String[] whats;
  private long count;

  /**
   * Makes an empty one that takes no notes.
   *
   * @param clock dates the packets
   * @param capacity how many packets are kept
   */
  public Trace(Clock clock, int capacity) {
    this(clock, capacity, false);
  }

  /**
   * Makes an empty one.
   *
   * @param clock dates packets and notes
   * @param capacity how many of them are kept
   * @param takesNotes whether notes are kept too
   */
  public Trace(Clock clock, int capacity, boolean takesNotes) {
    this.clock = clock;
    this.capacity = capacity;
    this.takesNotes = takesNotes;
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
    int slot = next(what, length);
    MemorySegment.copy(packet, at, headers, (long) slot * HEADER_BYTES, Math.min(length, HEADER_BYTES));
  }

  /**
   * Keeps a note, where notes are taken.
   *
   * @param text makes it; called only when it is kept
   */
  public void note(Supplier<String> text) {
    if (takesNotes) {
      next(text.get(), NOTE);
    }
  }

  private int next(String what, int length) {
    int slot = (int) (count++ % capacity);
    times[slot] = clock.nanoTime();
    whats[slot] = what;
    lengths[slot] = length;
    return slot;
  }

  /** Forgets all packets and notes. */
  public void clear() {
    count = 0;
    Arrays.fill(whats, null);
  }

  /** One line for each packet and note, oldest first. */
  @Override
  public String toString() {
    var text = new StringBuilder();
    if (count > capacity) {
      text.append(String.format("%15s  (%d lines before these)%n", "...", count - capacity));
    }
    for (long i = Math.max(0, count - capacity); i < count; i++) {
      int slot = (int) (i % capacity);
      text.append(String.format("%12.3f us  %s", times[slot] / 1000.0, whats[slot]));
      if (lengths[slot] != NOTE) {
        PacketFormatter.append(text.append(' '), headers, (long) slot * HEADER_BYTES, lengths[slot]);
      }
      text.append('\n');
    }
    return text.toString();
  }
}
