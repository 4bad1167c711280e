package org.rdma4j.tools.rdma;

import static java.util.Map.entry;

import java.io.PrintStream;
import java.util.List;
import org.rdma4j.ulp.command.CommandException;

/**
 * {@code rdma system}: what holds for all devices. A container has no network namespaces of its own, so its devices are
 * shared by all that runs in it; memory is the process's, which nothing forks.
 */
final class SystemCommand {
  private static final String USAGE = "Usage: rdma system show [ netns ]";

  private final Surroundings surroundings;
  private final PrintStream out;

  SystemCommand(Surroundings surroundings, PrintStream out) {
    this.surroundings = surroundings;
    this.out = out;
  }

  void run(Arguments arguments) throws CommandException, InterruptedException {
    arguments.dispatch(
        "system command",
        this::show,
        List.of(entry("show", this::show), entry("help", ignored -> out.println(USAGE))));
  }

  private void show(Arguments arguments) throws CommandException {
    if (!arguments.isEmpty() && !arguments.takeKeyword("netns")) {
      throw new CommandException("Unknown parameter '" + arguments.peek() + "'.");
    }
    arguments.end();
    Report report = surroundings.report();
    report.startList();
    report.startItem();
    report.word("netns", "netns %s ", "shared");
    report.flag("copy-on-fork", "copy-on-fork %s", true);
    report.endItem();
    report.endList();
  }
}
