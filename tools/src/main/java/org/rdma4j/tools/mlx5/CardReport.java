package org.rdma4j.tools.mlx5;

import java.io.PrintStream;
import java.util.Locale;
import org.rdma4j.mlx5.device.EntryTableUsage;
import org.rdma4j.mlx5.device.ModelledCard;
import org.rdma4j.mlx5.device.PageUsage;

/** What {@code mlx5 hem} prints: the tables of a card, its pages, or the entries of one table. */
final class CardReport {
  private static final int MOST_ENTRIES = 1000;

  private final PrintStream out;

  CardReport(PrintStream out) {
    this.out = out;
  }

  void tables(ModelledCard card) {
    PageUsage pages = card.pages();
    out.printf(
        Locale.ROOT,
        "%s on %s: %d pages of the host, %d free, %d asked for%n",
        card.name(),
        card.port(),
        pages.given(),
        pages.free(),
        pages.requested());
    out.printf(Locale.ROOT, "  %-8s %5s %9s %9s %6s%n", "table", "bytes", "used", "of", "pages");
    for (EntryTableUsage table : card.tables()) {
      out.printf(
          Locale.ROOT,
          "  %-8s %5d %9d %9d %6d%n",
          table.name(),
          table.entryBytes(),
          table.used(),
          table.capacity(),
          table.pages());
    }
  }

  void entries(ModelledCard card, String table) {
    card.entries(table, MOST_ENTRIES).forEach(out::println);
  }
}
