package org.rdma4j.tools.rdma;

import static java.util.Map.entry;

import java.io.PrintStream;
import java.util.List;
import org.rdma4j.ib.core.verbs.CounterSet;
import org.rdma4j.ulp.command.CommandException;

/** {@code rdma statistic}: the counters of ports. Counters of single queue pairs are not offered. */
final class StatisticCommand {
  private static final String USAGE =
      """
      Usage: rdma [ OPTIONS ] statistic { COMMAND | help }
             rdma statistic show
             rdma statistic show link [ DEV/PORT_INDEX ]
      """;

  private final Surroundings surroundings;
  private final PrintStream out;

  StatisticCommand(Surroundings surroundings, PrintStream out) {
    this.surroundings = surroundings;
    this.out = out;
  }

  void run(Arguments arguments) throws CommandException, InterruptedException {
    Arguments.Action notSupported =
        ignored -> {
          throw new CommandException("error: Operation not supported");
        };
    arguments.dispatch(
        "statistic command",
        this::showLinks,
        List.of(
            entry("show", this::show),
            entry("list", this::show),
            entry("help", ignored -> out.print(USAGE)),
            entry("qp", notSupported),
            entry("mr", notSupported),
            entry("mode", notSupported),
            entry("set", notSupported),
            entry("unset", notSupported)));
  }

  private void show(Arguments arguments) throws CommandException, InterruptedException {
    arguments.dispatch(
        "parameter",
        this::showLinks,
        List.of(entry("link", this::showLinks), entry("help", ignored -> out.print(USAGE))));
  }

  private void showLinks(Arguments arguments) throws CommandException {
    List<Devices.Link> chosen = surroundings.devices().links(arguments.isEmpty() ? null : arguments.take(), true);
    arguments.end();
    Report report = surroundings.report();
    report.startList();
    for (Devices.Link link : chosen) {
      CounterSet counters = link.device().counters(link.port());
      report.startItem();
      report.word("ifname", "link %s/", link.device().name());
      report.number("port", "%d ", link.port());
      for (int i = 0; i < counters.names().size(); i++) {
        report.breakLine();
        report.number(counters.names().get(i), counters.names().get(i) + " %d ", counters.value(i));
      }
      report.endItem();
    }
    report.endList();
  }
}
