package org.rdma4j.provider.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ReportTest {
  private static final Result PASSED = new Result("rc.a", "It is so.", Outcome.PASS, "", 3);
  private static final Result SKIPPED = new Result("rc.b", "It is so.", Outcome.SKIP, "no \"b\"", 0);
  private static final Result FAILED = new Result("rc.c", "It is so.", Outcome.FAIL, "first\nsecond", 9);

  @Test
  void textHasALineForEachCaseAndASummary() {
    List<Result> heard = new ArrayList<>();
    Report report = new Report(heard::add);
    List.of(PASSED, SKIPPED, FAILED).forEach(report::add);
    assertEquals(
        List.of(
            "PASS rc.a",
            "SKIP rc.b: no \"b\"",
            "FAIL rc.c: first second",
            " -> : 1 passed, 1 skipped, 1 failed, seed 0"),
        report.text().lines().toList());
    assertEquals(report.results(), heard);
    assertEquals(1, report.count(Outcome.FAIL));
  }

  @Test
  void jsonIsQuoted() {
    Report report = new Report();
    report.add(SKIPPED);
    report.add(FAILED);
    String json = report.json();
    assertTrue(json.contains("\"pass\":0,\"skip\":1,\"fail\":1,"), json);
    assertTrue(json.contains("\"detail\":\"no \\\"b\\\"\""), json);
    assertTrue(json.contains("\"detail\":\"first\\u000asecond\""), json);
  }
}
