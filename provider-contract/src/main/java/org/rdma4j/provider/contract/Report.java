package org.rdma4j.provider.contract;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** What came of a run of the suite, by name. Safe for any thread. */
public final class Report {
  private static final int ESCAPE_BELOW = 0x20;

  private final List<Result> results = new ArrayList<>();
  private final Consumer<Result> listener;
  private String a = "";
  private String b = "";
  private long seed;

  /** Makes an empty report. */
  public Report() {
    this(result -> {});
  }

  /**
   * Makes an empty report.
   *
   * @param listener told each result as it comes, by the thread that runs the suite
   */
  public Report(Consumer<Result> listener) {
    this.listener = listener;
  }

  /**
   * Notes what the results to come are about.
   *
   * @param ends the devices
   */
  public synchronized void begin(Ends ends) {
    a = ends.a().name();
    b = ends.b().name();
    seed = ends.seed();
  }

  /**
   * Adds a result.
   *
   * @param result how a case ended
   */
  public void add(Result result) {
    synchronized (this) {
      results.add(result);
    }
    listener.accept(result);
  }

  /** {@return the results so far} */
  public synchronized List<Result> results() {
    return List.copyOf(results);
  }

  /**
   * Counts.
   *
   * @param outcome which
   * @return how many results there are of it
   */
  public synchronized long count(Outcome outcome) {
    return results.stream().filter(each -> each.outcome() == outcome).count();
  }

  /** {@return one line with the devices and how many passed, were skipped and failed} */
  public synchronized String summary() {
    return String.format(
        "%s -> %s: %d passed, %d skipped, %d failed, seed %d",
        a, b, count(Outcome.PASS), count(Outcome.SKIP), count(Outcome.FAIL), seed);
  }

  /**
   * Writes a result as one line.
   *
   * @param result how a case ended
   * @return outcome, name, and the detail where there is one
   */
  public static String line(Result result) {
    String line = result.outcome() + " " + result.name();
    return result.detail().isEmpty() ? line : line + ": " + result.detail().replace('\n', ' ');
  }

  /** {@return the report as text: a line for each case, and the summary} */
  public synchronized String text() {
    StringBuilder text = new StringBuilder();
    results.forEach(each -> text.append(line(each)).append('\n'));
    return text.append(summary()).append('\n').toString();
  }

  /** {@return the report as one JSON object: devices, seed, counts, and the cases with all that is known of them} */
  public synchronized String json() {
    StringBuilder text = new StringBuilder("{");
    text.append("\"a\":").append(quoted(a)).append(",\"b\":").append(quoted(b)).append(",\"seed\":").append(seed);
    text.append(",\"pass\":").append(count(Outcome.PASS));
    text.append(",\"skip\":").append(count(Outcome.SKIP));
    text.append(",\"fail\":").append(count(Outcome.FAIL)).append(",\"cases\":[");
    String before = "\n";
    for (Result each : results) {
      text.append(before).append("{\"name\":").append(quoted(each.name()));
      text.append(",\"outcome\":").append(quoted(each.outcome().name()));
      text.append(",\"millis\":").append(each.millis());
      text.append(",\"promise\":").append(quoted(each.promise()));
      text.append(",\"detail\":").append(quoted(each.detail())).append('}');
      before = ",\n";
    }
    return text.append("\n]}\n").toString();
  }

  private static String quoted(String value) {
    StringBuilder text = new StringBuilder("\"");
    for (int i = 0; i < value.length(); i++) {
      char c = value.charAt(i);
      if (c == '"' || c == '\\') {
        text.append('\\').append(c);
      } else if (c < ESCAPE_BELOW) {
        text.append(String.format("\\u%04x", (int) c));
      } else {
        text.append(c);
      }
    }
    return text.append('"').toString();
  }
}
