package org.rdma4j.ulp.demo;

import java.io.PrintStream;

/** Where the demonstration is shown: its steps are numbered. */
final class Stage {
  private final PrintStream out;
  private int step;

  Stage(PrintStream out) {
    this.out = out;
  }

  void heading(String text) {
    step++;
    out.println();
    out.println(step + ". " + text);
    out.flush();
  }

  void say(String format, Object... values) {
    out.printf("   " + format + "%n", values);
  }

  void show(Table table) {
    table.print(out);
  }
}
