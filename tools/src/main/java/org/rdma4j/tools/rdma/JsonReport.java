package org.rdma4j.tools.rdma;

import java.io.PrintStream;
import java.util.List;

/** A listing as a JSON array of objects, laid out as iproute2 does it, compact or pretty. */
final class JsonReport implements Report {
  private static final String INDENT = "    ";

  private final PrintStream out;
  private final boolean pretty;
  private int depth;
  private boolean filled;

  JsonReport(PrintStream out, boolean pretty) {
    this.out = out;
    this.pretty = pretty;
  }

  @Override
  public void startList() {
    begin("[");
  }

  @Override
  public void endList() {
    endArray();
    out.println();
    out.flush();
  }

  @Override
  public void startItem() {
    separate();
    out.print('{');
    depth++;
    filled = false;
  }

  @Override
  public void endItem() {
    depth--;
    if (filled) {
      newLine();
    }
    out.print('}');
    filled = true;
  }

  @Override
  public void number(String key, String format, long value) {
    field(key, Long.toString(value));
  }

  @Override
  public void word(String key, String format, String value) {
    field(key, quoted(value));
  }

  @Override
  public void flag(String key, String format, boolean value) {
    field(key, Boolean.toString(value));
  }

  @Override
  public void hex(String key, String format, long value) {
    field(key, quoted(Long.toHexString(value)));
  }

  @Override
  public void words(String key, String before, String between, String after, List<String> values) {
    name(key);
    begin("[");
    for (String value : values) {
      separate();
      out.print(quoted(value));
    }
    endArray();
  }

  @Override
  public void breakLine() {
    // Every field has its line.
  }

  private void field(String key, String value) {
    if (key != null) {
      name(key);
      out.print(value);
      filled = true;
    }
  }

  private void name(String key) {
    separate();
    newLine();
    out.print(quoted(key) + (pretty ? ": " : ":"));
    filled = false;
  }

  private void begin(String bracket) {
    separate();
    out.print(pretty ? bracket + " " : bracket);
    depth++;
    filled = false;
  }

  private void endArray() {
    depth--;
    out.print(pretty && filled ? " ]" : "]");
    filled = true;
  }

  private void separate() {
    if (filled) {
      out.print(',');
    }
    filled = true;
  }

  private void newLine() {
    if (pretty) {
      out.print("\n" + INDENT.repeat(depth));
    }
  }

  private static String quoted(String text) {
    StringBuilder quoted = new StringBuilder("\"");
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      switch (c) {
        case '"', '\\' -> quoted.append('\\').append(c);
        case '\t' -> quoted.append("\\t");
        case '\n' -> quoted.append("\\n");
        case '\r' -> quoted.append("\\r");
        case '\f' -> quoted.append("\\f");
        case '\b' -> quoted.append("\\b");
        default -> {
          if (c < ' ' || c == 0x7f) {
            quoted.append(String.format("\\u%04x", (int) c));
          } else {
            quoted.append(c);
          }
        }
      }
    }
    return quoted.append('"').toString();
  }
}
