package org.rdma4j.tools.rdma;

import java.io.PrintStream;
import java.util.List;

/** A listing with one line for each item. */
final class TextReport implements Report {
  private final PrintStream out;
  private final boolean pretty;

  TextReport(PrintStream out, boolean pretty) {
    this.out = out;
    this.pretty = pretty;
  }

  @Override
  public void startList() {
    // The lines are the list.
  }

  @Override
  public void endList() {
    out.flush();
  }

  @Override
  public void startItem() {
    // The line starts with its first field.
  }

  @Override
  public void endItem() {
    out.println();
  }

  @Override
  public void number(String key, String format, long value) {
    print(format, value);
  }

  @Override
  public void word(String key, String format, String value) {
    print(format, value);
  }

  @Override
  public void flag(String key, String format, boolean value) {
    print(format, value ? "on" : "off");
  }

  @Override
  public void hex(String key, String format, long value) {
    print(format, value);
  }

  @Override
  public void words(String key, String before, String between, String after, List<String> values) {
    out.print(before + String.join(between, values) + after);
  }

  @Override
  public void breakLine() {
    if (pretty) {
      out.print("\n    ");
    }
  }

  private void print(String format, Object value) {
    if (format != null) {
      out.print(Report.format(format, value));
    }
  }
}
