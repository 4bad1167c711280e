package org.rdma4j.it.peer;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The events that {@code cm.py} and {@code cm_peer} print. */
final class CmEvents {
  private static final Pattern TIME = Pattern.compile(" after (\\d+) ms");
  private static final String EVENT = "event ";

  private CmEvents() {}

  /** The events in short, such as {@code ESTABLISHED status 0}, without their times. */
  static List<String> of(String output) {
    return output
        .lines()
        .filter(line -> line.startsWith(EVENT))
        .map(line -> TIME.matcher(line.substring(EVENT.length())).replaceFirst("").strip())
        .toList();
  }

  /** How long after what began it the first event of a type came, in milliseconds. */
  static long millis(String output, String type) {
    for (String line : (Iterable<String>) output.lines()::iterator) {
      Matcher time = TIME.matcher(line);
      if (line.startsWith(EVENT + type) && time.find()) {
        return Long.parseLong(time.group(1));
      }
    }
    throw new PeerException("no event " + type + ":\n" + output);
  }
}
