package org.rdma4j.ulp.demo;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** What was promised against what was seen. */
final class Checks {
  private final List<String> broken = new ArrayList<>();
  private int made;

  /** Checks that something is as it should be. */
  void expect(String what, Object expected, Object seen) {
    made++;
    if (!Objects.equals(expected, seen)) {
      broken.add(what + ": expected " + expected + ", saw " + seen);
    }
  }

  /** Checks that something is at least so much. */
  void expectAtLeast(String what, long least, long seen) {
    made++;
    if (seen < least) {
      broken.add(what + ": expected " + least + " or more, saw " + seen);
    }
  }

  /** What is not as promised, one line each. */
  List<String> broken() {
    return List.copyOf(broken);
  }

  /** How many checks there were. */
  int made() {
    return made;
  }
}
