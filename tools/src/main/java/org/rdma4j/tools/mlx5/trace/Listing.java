package org.rdma4j.tools.mlx5.trace;

import java.io.PrintStream;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** What was seen, in the order of time: as lines for a person, or as a JSON array with one object a line. */
public final class Listing {
  private static final double NANOS_PER_MICRO = 1_000.0;
  private static final int LONGEST_THREAD = 20;

  private final List<TraceEvent> events;

  /**
   * Takes what was seen.
   *
   * @param events in any order
   */
  public Listing(List<TraceEvent> events) {
    this.events =
        events.stream()
            .sorted(Comparator.comparingLong(TraceEvent::nanos).thenComparingLong(TraceEvent::sequence))
            .toList();
  }

  private double micros(TraceEvent event) {
    return (event.nanos() - events.getFirst().nanos()) / NANOS_PER_MICRO;
  }

  /**
   * Prints lines: time since the first one in microseconds, thread, layer, and what it was, indented by what it was
   * done for.
   *
   * @param out where to
   */
  public void text(PrintStream out) {
    for (TraceEvent event : events) {
      out.printf(
          Locale.ROOT,
          "%10.1f  %-" + LONGEST_THREAD + "s  %-9s  %s%s%n",
          micros(event),
          shortened(event.thread()),
          event.layer().word(),
          "  ".repeat(event.depth()),
          event.text());
    }
  }

  private static String shortened(String thread) {
    return thread.length() <= LONGEST_THREAD
        ? thread
        : thread.substring(0, 2) + ".." + thread.substring(thread.length() - LONGEST_THREAD + 4);
  }

  /**
   * Prints JSON.
   *
   * @param out where to
   */
  public void json(PrintStream out) {
    out.print('[');
    String separator = "\n";
    for (TraceEvent event : events) {
      Map<String, Object> all = new LinkedHashMap<>();
      all.put("time_us", micros(event));
      all.put("thread", event.thread());
      all.put("depth", event.depth());
      all.put("layer", event.layer().word());
      all.putAll(event.fields());
      out.print(separator + object(all));
      separator = ",\n";
    }
    out.println("\n]");
  }

  private static String object(Map<String, Object> fields) {
    StringBuilder text = new StringBuilder("{");
    fields.forEach(
        (name, value) -> {
          text.append(text.length() == 1 ? "" : ",").append(quoted(name)).append(':');
          text.append(
              value instanceof Double number
                  ? String.format(Locale.ROOT, "%.3f", number)
                  : value instanceof Number || value instanceof Boolean ? value : quoted(String.valueOf(value)));
        });
    return text.append('}').toString();
  }

  private static String quoted(String text) {
    StringBuilder quoted = new StringBuilder("\"");
    for (char each : text.toCharArray()) {
      if (each == '"' || each == '\\') {
        quoted.append('\\').append(each);
      } else if (each < ' ') {
        quoted.append(String.format(Locale.ROOT, "\\u%04x", (int) each));
      } else {
        quoted.append(each);
      }
    }
    return quoted.append('"').toString();
  }
}
