package org.rdma4j.tools.rdma;

import static java.util.Map.entry;

import java.io.PrintStream;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Consumer;
import org.rdma4j.ulp.command.CommandException;

/** {@code rdma monitor}: a line for each event until interrupted, or until as many as asked for were shown. */
final class MonitorCommand {
  private static final String USAGE = "Usage: rdma monitor [ count NUMBER ]";

  private final Surroundings surroundings;
  private final Watching watching;
  private final PrintStream out;

  /** Starts to hand events to a listener, until closed. */
  @FunctionalInterface
  interface Watching {
    Closing start(Consumer<Monitor.Event> listener);
  }

  /** Ends the watching. */
  @FunctionalInterface
  interface Closing {
    void close();
  }

  MonitorCommand(Surroundings surroundings, Watching watching, PrintStream out) {
    this.surroundings = surroundings;
    this.watching = watching;
    this.out = out;
  }

  void run(Arguments arguments) throws CommandException, InterruptedException {
    arguments.dispatch(
        "mon command",
        rest -> show(Long.MAX_VALUE),
        List.of(entry("count", this::showSome), entry("help", ignored -> out.println(USAGE))));
  }

  private void showSome(Arguments arguments) throws CommandException, InterruptedException {
    String count = arguments.take("Please provide how many events to wait for.");
    arguments.end();
    if (!count.matches("[1-9][0-9]{0,8}")) {
      throw new CommandException("Wrong number of events - " + count);
    }
    show(Long.parseLong(count));
  }

  private void show(long count) throws CommandException, InterruptedException {
    BlockingQueue<Monitor.Event> events = new LinkedBlockingQueue<>();
    Report report = surroundings.report();
    report.startList();
    Closing monitor = watching.start(events::add);
    try {
      for (long shown = 0; shown < count; shown++) {
        events.take().print(report);
        out.flush();
      }
    } finally {
      monitor.close();
      report.endList();
    }
  }
}
