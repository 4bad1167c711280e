package org.rdma4j.ulp.demo;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Rows under headings: words to the left, numbers to the right. */
final class Table {
  private static final String INDENT = "   ";
  private static final String GAP = "   ";

  private final List<Object[]> rows = new ArrayList<>();

  /** Starts with the headings. */
  Table(String... headings) {
    rows.add(headings);
  }

  /** Adds a row; numbers get separators for thousands. */
  void add(Object... cells) {
    rows.add(cells);
  }

  /** Prints all rows with aligned columns. */
  void print(PrintStream out) {
    int columns = rows.getFirst().length;
    int[] widths = new int[columns];
    boolean[] numbers = new boolean[columns];
    for (Object[] row : rows) {
      for (int i = 0; i < columns; i++) {
        widths[i] = Math.max(widths[i], text(row[i]).length());
        numbers[i] |= row[i] instanceof Number;
      }
    }
    for (Object[] row : rows) {
      StringBuilder line = new StringBuilder(INDENT);
      for (int i = 0; i < columns; i++) {
        String text = text(row[i]);
        String blanks = " ".repeat(widths[i] - text.length());
        line.append(i == 0 ? "" : GAP).append(numbers[i] ? blanks + text : text + blanks);
      }
      out.println(line.toString().stripTrailing());
    }
  }

  private static String text(Object cell) {
    return cell instanceof Number number ? String.format(Locale.ROOT, "%,d", number.longValue()) : cell.toString();
  }
}
