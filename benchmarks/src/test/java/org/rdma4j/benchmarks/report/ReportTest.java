package org.rdma4j.benchmarks.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ReportTest {
  private static final Series ONE = new Series("one \"quoted\" \\", "GB/s", 2, 4, 9);
  private static final Series OTHER = new Series("other", "GB/s", 1, 4, 3);

  private static Report report() {
    Report report = new Report("test");
    report.add(ONE);
    report.add(new Series("empty", "s"));
    report.add(new Row("ratio", ONE.over("ratio", OTHER), Aim.atLeast(1.5)));
    report.add(new Row("stated", OTHER, Aim.NONE));
    return report;
  }

  @Test
  void seriesAreDividedRoundByRound() {
    Series ratio = ONE.over("ratio", OTHER);
    assertEquals(2, ratio.median());
    assertEquals(1, ratio.min());
    assertEquals(3, ratio.max());
    assertEquals("1", ratio.unit());
    assertEquals(3, new Series("even", "1", 4, 2).median());
  }

  @Test
  void aimsAreMetOrNot() {
    assertTrue(Aim.atLeast(1).isMetBy(1));
    assertFalse(Aim.atLeast(1).isMetBy(0.9));
    assertFalse(Aim.atMost(1).isMetBy(1.1));
    assertFalse(new Aim(0.8, 1.2).isMetBy(1.3));
    assertTrue(Aim.NONE.isMetBy(7));
  }

  @Test
  @SuppressWarnings("unchecked")
  void jsonFollowsTheFormat() {
    var document = (Map<String, Object>) Json.parse(report().toJson());
    assertEquals(Set.of("benchmark", "format", "about", "results", "rows"), document.keySet());
    assertEquals("test", document.get("benchmark"));
    assertEquals(1.0, document.get("format"));
    var about = (Map<String, Object>) document.get("about");
    assertTrue(about.keySet().containsAll(Set.of("processors", "java", "system")), about.toString());
    about.values().forEach(value -> assertTrue(value instanceof String));

    var results = (List<Map<String, Object>>) document.get("results");
    assertEquals(2, results.size());
    for (Map<String, Object> result : results) {
      assertEquals(Set.of("name", "unit", "median", "min", "max", "values"), result.keySet());
    }
    assertEquals(ONE.name(), results.getFirst().get("name"));
    assertEquals(List.of(2.0, 4.0, 9.0), results.getFirst().get("values"));
    assertEquals(List.of(), results.get(1).get("values"));

    var rows = (List<Map<String, Object>>) document.get("rows");
    for (Map<String, Object> row : rows) {
      assertEquals(Set.of("title", "aim", "met", "unit", "median", "min", "max"), row.keySet());
    }
    assertEquals(true, rows.getFirst().get("met"));
    assertEquals("≥ 1.50", rows.getFirst().get("aim"));
  }

  @Test
  void tableHasOneLineForEachRow() {
    String[] lines = report().toMarkdown().split("\n");
    assertEquals("| ratio | 2 | 1 | 3 | ≥ 1.50 | yes |", lines[2]);
    assertEquals("| stated | 3 GB/s | 1 | 4 | stated |  |", lines[3]);
  }
}
