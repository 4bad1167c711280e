package org.rdma4j.roce.simulation;

import java.util.LinkedHashSet;
import java.util.Set;

/** Which parts a simulation may have, and which it had. */
final class Parts {
  private final Set<Part> allowed;
  private final Set<Part> seen = new LinkedHashSet<>();

  private Parts(Set<Part> allowed) {
    this.allowed = allowed;
  }

  /** Whatever the seed decides. */
  static Parts all() {
    return new Parts(null);
  }

  /** Only these; of the faults of the network exactly these. */
  static Parts only(Set<Part> parts) {
    return new Parts(parts);
  }

  /** Whether a part that the seed decides on is played. */
  boolean has(Part part) {
    boolean has = allowed == null || allowed.contains(part);
    if (has) {
      seen.add(part);
    }
    return has;
  }

  /** Whether a fault happens that chance wants, or that was there when all was played. */
  boolean hasFault(Part part, boolean drawn) {
    boolean has = allowed == null ? drawn : allowed.contains(part);
    if (has) {
      seen.add(part);
    }
    return has;
  }

  /** What was played, in the order of the first time. */
  Set<Part> seen() {
    return seen;
  }
}
