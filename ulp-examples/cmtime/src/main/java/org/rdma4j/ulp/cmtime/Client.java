package org.rdma4j.ulp.cmtime;

import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.function.Consumer;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.rdma.cm.ConnectionParameters;
import org.rdma4j.rdma.cm.EventChannel;
import org.rdma4j.rdma.cm.PortSpace;
import org.rdma4j.rdma.cm.RdmaCm;
import org.rdma4j.rdma.cm.RdmaCmEvent;

/**
 * The side that connects: takes all connections through one step after the other, and prints how long that took. One
 * thread begins the steps, the channel's ends those that an event ends.
 */
final class Client {
  private final CmtimeOptions options;
  private final InetSocketAddress server;
  private final InetSocketAddress source;
  private final PrintStream out;
  private final PrintStream err;
  private final Duration timeout;
  private final EventChannel channel;
  private final RdmaCm cm;
  private final Times times;
  private final Node[] nodes;
  private final Pending pending = new Pending();
  private boolean failed;

  Client(
      RdmaCm cm,
      CmtimeOptions options,
      InetSocketAddress server,
      InetSocketAddress source,
      PrintStream out,
      PrintStream err) {
    this.cm = cm;
    this.options = options;
    this.server = server;
    this.source = source;
    this.out = out;
    this.err = err;
    timeout = Duration.ofMillis(Math.max(1, options.timeoutMillis()));
    times = new Times(options.connections());
    nodes = new Node[options.connections()];
    channel = cm.createEventChannel();
  }

  /** Runs all steps and prints the table; the exit status. */
  int run() throws InterruptedException {
    try (EventThread _ = new EventThread(channel, this::handle, this::lost)) {
      return steps();
    }
  }

  private int steps() throws InterruptedException {
    for (int i = 0; i < nodes.length; i++) {
      nodes[i] = new Node(i, options.retries());
    }
    step(Step.CREATE_ID, "", node -> node.id = cm.createId(channel, PortSpace.TCP, node));
    if (source != null) {
      step(Step.BIND, "failure bind addr", node -> node.id.bindAddress(source));
    }
    await(Step.RESOLVE_ADDR, "failure getting addr", this::resolveAddress);
    await(Step.RESOLVE_ROUTE, "failure resolving route", node -> node.id.resolveRoute(timeout));
    step(Step.CREATE_QP, "failure creating qp", node -> node.id.createQp(null, Cmtime.queuePair()));
    var parameters = ConnectionParameters.DEFAULT.withDepths(1, 1).withRetries(Math.min(options.retries(), 7), 0);
    await(Step.CONNECT, "failure rconnecting", node -> node.id.connect(parameters));
    await(
        Step.DISCONNECT,
        "",
        node -> {
          node.id.disconnect();
          node.id.destroyQp();
        });
    for (Node node : nodes) {
      failed |= node.failed;
      node.failed = node.id == null;
    }
    step(Step.DESTROY, "", node -> node.id.close());
    print();
    return failed ? Cmtime.FAILED : 0;
  }

  private void resolveAddress(Node node) {
    node.id.resolveAddress(source, server, timeout);
  }

  /** A step that ends with the call. */
  private void step(Step step, String failure, Consumer<Node> call) {
    out.println(step.progress());
    times.begin(step, System.nanoTime());
    for (Node node : nodes) {
      if (!node.failed) {
        times.begin(step, node.index, System.nanoTime());
        if (attempt(node, failure, call)) {
          times.end(step, node.index, System.nanoTime());
        }
      }
    }
    times.end(step, System.nanoTime());
  }

  /** A step that ends with an event. */
  private void await(Step step, String failure, Consumer<Node> call) throws InterruptedException {
    out.println(step.progress());
    times.begin(step, System.nanoTime());
    for (Node node : nodes) {
      if (!node.failed) {
        node.retries = options.retries();
        pending.begun();
        node.step = step;
        times.begin(step, node.index, System.nanoTime());
        if (!attempt(node, failure, call)) {
          ended(node, step);
        }
      }
    }
    pending.await();
    times.end(step, System.nanoTime());
  }

  private boolean attempt(Node node, String failure, Consumer<Node> call) {
    try {
      call.accept(node);
      return true;
    } catch (VerbsException e) {
      err.println(Cmtime.text(failure.isEmpty() ? "cmtime" : failure, e));
      node.failed = true;
      return false;
    }
  }

  /** The step of a connection is over, whoever says so first. */
  private void ended(Node node, Step step) {
    if (node.end(step)) {
      if (!node.failed) {
        times.end(step, node.index, System.nanoTime());
      }
      pending.ended();
    }
  }

  private void handle(RdmaCmEvent event) {
    Node node = (Node) event.id().context();
    switch (event.type()) {
      case ADDR_RESOLVED -> ended(node, Step.RESOLVE_ADDR);
      case ROUTE_RESOLVED -> ended(node, Step.RESOLVE_ROUTE);
      case ESTABLISHED -> ended(node, Step.CONNECT);
      case DISCONNECTED -> ended(node, Step.DISCONNECT);
      case ADDR_ERROR -> again(node, event, this::resolveAddress);
      case ROUTE_ERROR -> again(node, event, each -> each.id.resolveRoute(timeout));
      case CONNECT_ERROR, UNREACHABLE, REJECTED, DEVICE_REMOVAL -> {
        out.println("event: " + event.type().text() + ", error: " + event.status());
        fail(node, event);
      }
      default -> {
        // Nothing to do, as in the original.
      }
    }
  }

  /** There are no more events: no step of no connection ends any more. */
  private void lost(VerbsException why) {
    err.println(Cmtime.text("failure in rdma_get_cm_event in process_server_events", why));
    for (Node node : nodes) {
      node.failed = true;
      ended(node, node.step);
    }
  }

  private void again(Node node, RdmaCmEvent event, Consumer<Node> call) {
    if (node.retries-- > 0 && attempt(node, "cmtime", call)) {
      return;
    }
    out.println(event.type().text() + ", error: " + event.status());
    fail(node, event);
  }

  private void fail(Node node, RdmaCmEvent event) {
    err.println("cmtime: " + event);
    node.failed = true;
    ended(node, node.step);
  }

  private void print() {
    out.println(Times.HEADING);
    for (Step step : Step.values()) {
      if (step != Step.BIND || source != null) {
        out.println(times.line(step));
      }
    }
  }
}
