package org.rdma4j.benchmarks.report;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The one format of all measurements, as JSON:
 *
 * <pre>
 *   {"benchmark": text, "format": 1, "about": {name: text, ...},
 *    "results": [{"name": text, "unit": text, "median": n, "min": n, "max": n, "values": [n, ...]}, ...],
 *    "rows": [{"title": text, "aim": text, "met": true|false, "unit": text, "median": n, "min": n, "max": n}, ...]}
 * </pre>
 *
 * <p>and the rows as a table in Markdown. A row is met when its median meets the aim.
 */
public final class Report {
  private static final int FORMAT = 1;
  private static final double BIG = 100;
  private static final double MIDDLE = 10;

  private final String benchmark;
  private final Map<String, String> about = new LinkedHashMap<>();
  private final List<Series> results = new ArrayList<>();
  private final List<Row> rows = new ArrayList<>();

  /**
   * Makes an empty report.
   *
   * @param benchmark name of the program
   */
  public Report(String benchmark) {
    this.benchmark = benchmark;
    about("processors", Integer.toString(Runtime.getRuntime().availableProcessors()));
    about("java", Runtime.version().toString());
    about("system", System.getProperty("os.name") + " " + System.getProperty("os.version"));
  }

  /**
   * Says something about the circumstances.
   *
   * @param name what
   * @param value how it was
   */
  public void about(String name, String value) {
    about.put(name, value);
  }

  /**
   * Adds what was measured.
   *
   * @param series the values
   */
  public void add(Series series) {
    results.add(series);
  }

  /**
   * Adds a row to the table.
   *
   * @param row the row
   */
  public void add(Row row) {
    rows.add(row);
  }

  /**
   * Returns what was measured.
   *
   * @return all series
   */
  public List<Series> results() {
    return results;
  }

  /**
   * Writes the report for programs.
   *
   * @return one JSON document
   */
  public String toJson() {
    String circumstances =
        about.entrySet().stream()
            .map(entry -> quote(entry.getKey()) + ": " + quote(entry.getValue()))
            .collect(Collectors.joining(", ", "{", "}"));
    return "{\"benchmark\": " + quote(benchmark) + ", \"format\": " + FORMAT + ", \"about\": " + circumstances
        + ",\n \"results\": ["
        + results.stream().map(Report::toJson).collect(Collectors.joining(",\n  ", "\n  ", "\n "))
        + "],\n \"rows\": ["
        + rows.stream().map(Report::toJson).collect(Collectors.joining(",\n  ", "\n  ", "\n "))
        + "]}\n";
  }

  private static String toJson(Series series) {
    String values = Arrays.stream(series.values()).mapToObj(Report::exact).collect(Collectors.joining(", ", "[", "]"));
    return "{\"name\": " + quote(series.name()) + ", " + summary(series) + ", \"values\": " + values + "}";
  }

  private static String toJson(Row row) {
    return "{\"title\": " + quote(row.title()) + ", \"aim\": " + quote(row.aim().toString()) + ", \"met\": "
        + row.aim().isMetBy(row.series().median()) + ", " + summary(row.series()) + "}";
  }

  private static String summary(Series series) {
    return "\"unit\": " + quote(series.unit()) + ", \"median\": " + exact(series.median()) + ", \"min\": "
        + exact(series.min()) + ", \"max\": " + exact(series.max());
  }

  private static String exact(double value) {
    return Double.isFinite(value) ? String.format(Locale.ROOT, "%.6g", value) : "null";
  }

  private static String quote(String text) {
    StringBuilder quoted = new StringBuilder("\"");
    for (char c : text.toCharArray()) {
      if (c == '"' || c == '\\') {
        quoted.append('\\').append(c);
      } else if (c < ' ') {
        quoted.append(String.format("\\u%04x", (int) c));
      } else {
        quoted.append(c);
      }
    }
    return quoted.append('"').toString();
  }

  /**
   * Writes the rows for people.
   *
   * @return a table in Markdown
   */
  public String toMarkdown() {
    StringBuilder table = new StringBuilder("| what | median | min | max | aim | met |\n|---|---|---|---|---|---|\n");
    for (Row row : rows) {
      Series series = row.series();
      String unit = series.unit().equals("1") ? "" : " " + series.unit();
      String met = row.aim().equals(Aim.NONE) ? "" : row.aim().isMetBy(series.median()) ? "yes" : "**no**";
      table
          .append("| ")
          .append(String.join(
              " | ", row.title(), number(series.median()) + unit, number(series.min()), number(series.max()),
              row.aim().toString(), met))
          .append(" |\n");
    }
    return table
        .append("\n")
        .append(about.entrySet().stream()
            .map(entry -> entry.getKey() + ": " + entry.getValue())
            .collect(Collectors.joining("; ")))
        .append(".\n")
        .toString();
  }

  /** A number with about three digits. */
  static String number(double value) {
    if (value == Math.rint(value) && Math.abs(value) < BIG) {
      return Long.toString((long) value);
    }
    String format = Math.abs(value) >= BIG ? "%.0f" : Math.abs(value) >= MIDDLE ? "%.1f" : "%.2f";
    return String.format(Locale.ROOT, format, value);
  }
}
