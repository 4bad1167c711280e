package org.rdma4j.ulp.cmtime;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class TimesTest {
  private static final int MICRO = 1_000;

  /** Lines that the original has printed. */
  @Test
  void linesAreTheOriginals() {
    assertEquals("step              total ms     max ms     min us  us / conn", Times.HEADING);
    Times times = new Times(10);
    times.begin(Step.CREATE_ID, 0);
    times.end(Step.CREATE_ID, 225 * MICRO);
    times.begin(Step.CREATE_ID, 0, 0);
    times.end(Step.CREATE_ID, 0, 70 * MICRO);
    times.begin(Step.CREATE_ID, 9, 100 * MICRO);
    times.end(Step.CREATE_ID, 9, 106 * MICRO);
    assertEquals("create id    :        0.23       0.07       6.00      22.50", times.line(Step.CREATE_ID));
    times.begin(Step.RESOLVE_ROUTE, 10 * MICRO);
    times.end(Step.RESOLVE_ROUTE, 1251 * MICRO);
    times.begin(Step.RESOLVE_ROUTE, 3, 10 * MICRO);
    times.end(Step.RESOLVE_ROUTE, 3, 770 * MICRO);
    assertEquals("resolve route:        1.24       0.76     760.00     124.10", times.line(Step.RESOLVE_ROUTE));
  }

  @Test
  void whatNeverEndedDoesNotCount() {
    Times times = new Times(2);
    times.begin(Step.CONNECT, 1, 50);
    assertEquals("connect      :        0.00       0.00999999999.00       0.00", times.line(Step.CONNECT));
  }
}
