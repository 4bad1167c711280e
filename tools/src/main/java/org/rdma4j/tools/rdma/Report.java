package org.rdma4j.tools.rdma;

import java.io.PrintStream;
import java.util.List;
import java.util.Locale;

/**
 * A listing that goes out as text for people or as JSON. A field has a key for JSON and a format for text; without
 * the one or the other it is left out there.
 */
interface Report {
  /** The report that the options ask for. */
  static Report to(PrintStream out, boolean json, boolean pretty) {
    return json ? new JsonReport(out, pretty) : new TextReport(out, pretty);
  }

  /** Starts the listing. */
  void startList();

  /** Ends the listing. */
  void endList();

  /** Starts a line of text, an object of JSON. */
  void startItem();

  /** Ends a line of text, an object of JSON. */
  void endItem();

  /** A number; the format has a {@code %d}. */
  void number(String key, String format, long value);

  /** A word; the format has a {@code %s}. */
  void word(String key, String format, String value);

  /** A switch: {@code on} or {@code off} in text; the format has a {@code %s}. */
  void flag(String key, String format, boolean value);

  /** A key: {@code 0x} and hexadecimal digits in text, the digits alone in JSON. */
  void hex(String key, String format, long value);

  /** Several words, in text with what stands before, between and after them. */
  void words(String key, String before, String between, String after, List<String> values);

  /** Starts another line of the same item where people asked for pretty text. */
  void breakLine();

  /** Formats for programs: no grouping, a point in fractions. */
  static String format(String format, Object value) {
    return String.format(Locale.ROOT, format, value);
  }
}
