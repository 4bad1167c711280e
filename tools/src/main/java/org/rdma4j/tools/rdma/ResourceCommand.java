package org.rdma4j.tools.rdma;

import static java.util.Map.entry;

import java.io.PrintStream;
import java.util.List;
import org.rdma4j.ib.core.verbs.RdmaDevice;
import org.rdma4j.ib.core.verbs.ResourceType;
import org.rdma4j.ulp.command.CommandException;

/** {@code rdma resource}: how many objects there are and, kind by kind, which. */
final class ResourceCommand {
  private static final String USAGE =
      """
      Usage: rdma resource
                resource show [DEV]
                resource show [qp|cm_id|pd|mr|cq|ctx|srq]
                resource show qp link [DEV/PORT]
                resource show qp link [DEV/PORT] [FILTER-NAME FILTER-VALUE]
                resource show cm_id link [DEV/PORT]
                resource show cm_id link [DEV/PORT] [FILTER-NAME FILTER-VALUE]
                resource show cq dev [DEV]
                resource show cq dev [DEV] [FILTER-NAME FILTER-VALUE]
                resource show pd dev [DEV]
                resource show pd dev [DEV] [FILTER-NAME FILTER-VALUE]
                resource show mr dev [DEV]
                resource show mr dev [DEV] [FILTER-NAME FILTER-VALUE]
                resource show ctx dev [DEV]
                resource show ctx dev [DEV] [FILTER-NAME FILTER-VALUE]
                resource show srq dev [DEV]
                resource show srq dev [DEV] [FILTER-NAME FILTER-VALUE]
      """;

  private static final List<String> QP_NUMBERS = List.of("lqpn", "rqpn", "pid", "sq-psn", "rq-psn", "pdn");
  private static final List<String> QP_WORDS = List.of("type", "path-mig-state", "state");
  private static final List<String> CM_NUMBERS = List.of("lqpn", "pid", "src-port", "dst-port", "cm-idn");
  private static final List<String> CM_WORDS =
      List.of("qp-type", "state", "ps", "dev-type", "transport-type", "src-addr", "dst-addr");
  private static final List<String> CQ_NUMBERS = List.of("users", "pid", "cqn", "ctxn");
  private static final List<String> MR_NUMBERS = List.of("rkey", "lkey", "mrlen", "pid", "mrn", "pdn");
  private static final List<String> PD_NUMBERS = List.of("users", "pid", "ctxn", "pdn");
  private static final List<String> CTX_NUMBERS = List.of("pid", "ctxn");
  private static final List<String> SRQ_NUMBERS = List.of("pid", "srqn", "pdn", "cqn", "lqpn");

  private final Surroundings surroundings;
  private final PrintStream out;

  /** Lists the objects of one kind of a device. */
  @FunctionalInterface
  private interface Lister {
    void list(RdmaDevice device, Filters filters, Report report);
  }

  ResourceCommand(Surroundings surroundings, PrintStream out) {
    this.surroundings = surroundings;
    this.out = out;
  }

  void run(Arguments arguments) throws CommandException, InterruptedException {
    arguments.dispatch(
        "resource command",
        this::show,
        List.of(entry("show", this::show), entry("list", this::show), entry("help", ignored -> out.print(USAGE))));
  }

  private void show(Arguments arguments) throws CommandException, InterruptedException {
    if (arguments.remaining() == 1 && surroundings.devices().has(arguments.peek())) {
      count(surroundings.devices().named(arguments.take()));
      return;
    }
    arguments.dispatch(
        "parameter",
        ignored -> count(surroundings.devices().all()),
        List.of(
            entry("qp", this::queuePairs),
            entry("cm_id", this::connectionIds),
            entry("cq", rest -> list(rest, CQ_NUMBERS, List.of("poll-ctx"), ResourceLines::completionQueues)),
            entry("mr", rest -> list(rest, MR_NUMBERS, List.of(), ResourceLines::memoryRegions)),
            entry("pd", rest -> list(rest, PD_NUMBERS, List.of(), ResourceLines::protectionDomains)),
            entry("ctx", rest -> list(rest, CTX_NUMBERS, List.of(), ResourceLines::contexts)),
            entry("srq", rest -> list(rest, SRQ_NUMBERS, List.of("type"), ResourceLines::sharedReceiveQueues))));
  }

  private void count(List<RdmaDevice> devices) {
    Report report = surroundings.report();
    report.startList();
    for (RdmaDevice device : devices) {
      report.startItem();
      report.number("ifindex", "%d: ", device.index());
      report.word("ifname", "%s: ", device.name());
      for (ResourceType type : ResourceType.values()) {
        report.number(type.text(), type.text() + " %d ", count(device, type));
      }
      report.endItem();
    }
    report.endList();
  }

  /** Identifiers of connections are no objects of the core. */
  private long count(RdmaDevice device, ResourceType type) {
    return type == ResourceType.CM_ID
        ? surroundings.connections().stream().filter(each -> device.name().equals(each.device())).count()
        : device.resources().count(type);
  }

  private void queuePairs(Arguments arguments) throws CommandException {
    Filters filters = new Filters(arguments, "link", QP_NUMBERS, QP_WORDS);
    Report report = surroundings.report();
    List<Devices.Link> links = surroundings.devices().links(filters.place(), false);
    report.startList();
    links.forEach(link -> ResourceLines.queuePairs(link, filters, report));
    report.endList();
  }

  private void connectionIds(Arguments arguments) throws CommandException {
    Filters filters = new Filters(arguments, "link", CM_NUMBERS, CM_WORDS);
    Report report = surroundings.report();
    List<Devices.Link> links = surroundings.devices().links(filters.place(), false);
    report.startList();
    links.forEach(link -> ResourceLines.connectionIds(link, surroundings.connections(), filters, report));
    report.endList();
  }

  private void list(Arguments arguments, List<String> numbers, List<String> words, Lister lister)
      throws CommandException {
    Filters filters = new Filters(arguments, "dev", numbers, words);
    List<RdmaDevice> devices = surroundings.devices().named(filters.place());
    Report report = surroundings.report();
    report.startList();
    devices.forEach(device -> lister.list(device, filters, report));
    report.endList();
  }
}
