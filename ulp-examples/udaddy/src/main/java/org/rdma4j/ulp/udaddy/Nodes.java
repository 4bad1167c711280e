package org.rdma4j.ulp.udaddy;

import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.rdma.cm.ConnectionParameters;
import org.rdma4j.rdma.cm.EventChannel;
import org.rdma4j.rdma.cm.RdmaCm;
import org.rdma4j.rdma.cm.RdmaCmEvent;
import org.rdma4j.rdma.cm.RdmaCmId;
import org.rdma4j.ulp.command.Patience;

/** The queue pairs of one side, and what the events of their identifiers do. Belongs to one thread. */
final class Nodes implements AutoCloseable {
  private static final Duration ROUTE_TIMEOUT = Duration.ofSeconds(2);
  private static final Duration REMOVAL_PATIENCE = Duration.ofSeconds(2);
  private static final int EINVAL = 22;
  private static final byte[] NOTHING = new byte[0];

  private final UdaddyOptions options;
  private final PrintStream out;
  private final PrintStream err;
  private final List<Node> nodes = new ArrayList<>();
  private final EventChannel channel;
  private int connectsLeft;

  Nodes(RdmaCm cm, UdaddyOptions options, PrintStream out, PrintStream err) {
    this.options = options;
    this.out = out;
    this.err = err;
    channel = cm.createEventChannel();
    connectsLeft = options.connections();
  }

  EventChannel channel() {
    return channel;
  }

  /** Of a client, before anything is resolved. */
  void add(RdmaCmId id) {
    nodes.add(new Node(id, options));
  }

  /** Waits until all know their peer, or at a server are known to them. */
  void awaitConnects() throws Failure, InterruptedException {
    while (connectsLeft > 0) {
      handle(next(null));
    }
  }

  void postSends(boolean signaled) throws Failure {
    for (Node node : nodes) {
      node.postSends(signaled);
    }
  }

  /** Waits for as many completions of each as there are messages. */
  void poll() throws Failure, InterruptedException {
    Patience patience = new Patience();
    for (Node node : List.copyOf(nodes)) {
      int left = node.isConnected() ? options.messages() : 0;
      while (left > 0) {
        int found = pollOrRemoved(node);
        left -= found;
        if (found > 0) {
          patience.rewarded();
        } else if (patience.pause()) {
          handleWaiting(Duration.ZERO);
        }
      }
    }
  }

  /** The event of a device that is gone says more than the completions that it flushes. */
  private int pollOrRemoved(Node node) throws Failure, InterruptedException {
    try {
      return node.poll();
    } catch (Failure e) {
      handleWaiting(REMOVAL_PATIENCE);
      throw e;
    }
  }

  private void handleWaiting(Duration patience) throws Failure, InterruptedException {
    RdmaCmEvent event = next(patience);
    while (event != null) {
      handle(event);
      event = next(Duration.ZERO);
    }
  }

  private RdmaCmEvent next(Duration timeout) throws Failure, InterruptedException {
    try {
      return channel.getEvent(timeout);
    } catch (VerbsException e) {
      if (e.errno() == Errno.ECANCELED && Thread.interrupted()) {
        throw new InterruptedException();
      }
      throw new Failure("failure in rdma_get_cm_event", e);
    }
  }

  private void handle(RdmaCmEvent event) throws Failure {
    RdmaCmId id = event.id();
    Node node = id.context() instanceof Node found ? found : null;
    switch (event.type()) {
      case ADDR_RESOLVED -> resolveRoute(id);
      case ROUTE_RESOLVED -> connect(node);
      case CONNECT_REQUEST -> accept(id);
      case ESTABLISHED -> {
        node.resolved(event.datagram());
        connectsLeft--;
      }
      case ADDR_ERROR, ROUTE_ERROR, CONNECT_ERROR, UNREACHABLE, REJECTED -> {
        out.println("udaddy: event: " + event.type().text() + ", error: " + event.status());
        throw new Failure("udaddy: " + event, event.status());
      }
      case DEVICE_REMOVAL -> {
        out.println("udaddy: event: " + event.type().text() + ", error: " + event.status());
        throw Failure.removal("udaddy: " + event);
      }
      default -> {
        // Nothing to do, as in the original.
      }
    }
  }

  private void resolveRoute(RdmaCmId id) throws Failure {
    try {
      if (options.typeOfService() >= 0) {
        id.typeOfService(options.typeOfService());
      }
    } catch (VerbsException e) {
      err.println(new Failure("set TOS option failed", e).getMessage());
    }
    try {
      id.resolveRoute(ROUTE_TIMEOUT);
    } catch (VerbsException e) {
      throw new Failure("resolve route failed", e);
    }
  }

  private void connect(Node node) throws Failure {
    checkSize(node.id());
    node.make();
    try {
      node.id().connect(ConnectionParameters.DEFAULT);
    } catch (VerbsException e) {
      throw new Failure("failure connecting", e);
    }
  }

  /** A message is one packet. */
  private void checkSize(RdmaCmId id) throws Failure {
    int mtu = id.verbs().device().port(id.port()).activeMtu().bytes();
    if (options.messages() > 0 && options.size() > mtu) {
      String text = "udaddy: message_size " + options.size() + " is larger than active mtu " + mtu;
      throw new Failure(text, -EINVAL);
    }
  }

  private void accept(RdmaCmId id) throws Failure {
    if (nodes.size() == options.connections()) {
      refuse(id);
      return;
    }
    Node node = new Node(id, options);
    nodes.add(node);
    try {
      checkSize(id);
      node.make();
      id.accept(null);
      node.connected();
      connectsLeft--;
    } catch (Failure e) {
      refuse(id);
      throw e;
    } catch (VerbsException e) {
      throw new Failure("failure accepting", e);
    }
  }

  private void refuse(RdmaCmId id) {
    out.println("udaddy: failing connection request");
    try (id) {
      id.reject(NOTHING);
    } catch (VerbsException e) {
      // The device has gone meanwhile: nobody is left to be refused.
      return;
    }
  }

  /** Drops all queue pairs and waits for new peers. */
  void reset() {
    nodes.forEach(Node::close);
    nodes.clear();
    connectsLeft = options.connections();
  }

  /** Gives everything back. */
  @Override
  public void close() {
    nodes.forEach(Node::close);
    channel.close();
  }
}
