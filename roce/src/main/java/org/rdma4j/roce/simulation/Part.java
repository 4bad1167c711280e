package org.rdma4j.roce.simulation;

import org.rdma4j.roce.link.FabricFault;

/**
 * Something that a simulation can be run with or without, all else as it was.
 *
 * @param kind what it is
 * @param of which queue pairs, flow or direction
 * @param index which one of these
 */
record Part(Kind kind, int of, long index) {
  /** What can be left out, in the order in which it is tried. */
  enum Kind {
    /** Two queue pairs and all that they do. */
    PAIR,
    /** Something out of the ordinary that happens to a pair. */
    TROUBLE,
    /** One queue pair of the pair is ready later than the other. */
    LATE,
    /** The link has no room for a packet now and then. */
    REFUSALS,
    /** Receives are posted rarely, and not at once. */
    SCARCITY,
    /** A work request. */
    OPERATION,
    /** A fault of the network: what happens to one copy of one packet. */
    FAULT
  }

  private static final int PER_COPY = FabricFault.values().length;

  /** A fault of one copy of a packet of a direction, as {@link org.rdma4j.roce.link.FaultFilter} names it. */
  static Part fault(int direction, long copy, FabricFault fault) {
    return new Part(Kind.FAULT, direction, copy * PER_COPY + fault.ordinal());
  }

  /** The same fault so many packets earlier, or this when there are not so many. */
  Part earlier(int packets) {
    long moved = index - 2L * packets * PER_COPY;
    return kind == Kind.FAULT && moved >= 0 ? new Part(kind, of, moved) : this;
  }

  static Part of(Kind kind, int of) {
    return new Part(kind, of, 0);
  }
}
