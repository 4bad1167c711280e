package org.rdma4j.ulp.ucmatose;

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

/** The connections of one side, and what their events do. Belongs to one thread. */
final class Connections {
  private static final Duration ROUTE_TIMEOUT = Duration.ofSeconds(2);
  private static final Duration REMOVAL_PATIENCE = Duration.ofSeconds(2);
  private static final int RETRIES = 5;
  private static final byte[] NOTHING = new byte[0];

  private final RdmaCm cm;
  private final UcmatoseOptions options;
  private final PrintStream out;
  private final PrintStream err;
  private final List<Node> nodes = new ArrayList<>();
  private EventChannel channel;
  private int connectsLeft;
  private int disconnectsLeft;

  Connections(RdmaCm cm, UcmatoseOptions options, PrintStream out, PrintStream err) {
    this.cm = cm;
    this.options = options;
    this.out = out;
    this.err = err;
    channel = cm.createEventChannel();
    connectsLeft = options.connections();
  }

  EventChannel channel() {
    return channel;
  }

  /** Of a client, before anything is connected. */
  void add(RdmaCmId id) {
    nodes.add(new Node(id, options));
  }

  List<Node> nodes() {
    return nodes;
  }

  /** Waits until all are connected. */
  void awaitConnects() throws Failure, InterruptedException {
    while (connectsLeft > 0) {
      handle(next(null));
    }
  }

  /** Waits until none is connected any more. */
  void awaitDisconnects() throws Failure, InterruptedException {
    while (disconnectsLeft > 0) {
      handle(next(null));
    }
  }

  /** Ends all that are connected. */
  void disconnect() {
    for (Node node : nodes) {
      if (node.isConnected()) {
        node.connected(false);
        disconnect(node.id());
      }
    }
  }

  private static boolean disconnect(RdmaCmId id) {
    try {
      id.disconnect();
      return true;
    } catch (VerbsException e) {
      return false; // over already, which is what was wanted
    }
  }

  void postSends() throws Failure {
    for (Node node : nodes) {
      node.postSends();
    }
  }

  /** Waits for the completions of all sends, or of all receives. */
  void poll(boolean sends) throws Failure, InterruptedException {
    Patience patience = new Patience();
    for (Node node : List.copyOf(nodes)) {
      int left = node.isConnected() ? options.messages() : 0;
      while (left > 0) {
        int found = pollOrRemoved(node, sends);
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
  private int pollOrRemoved(Node node, boolean sends) throws Failure, InterruptedException {
    try {
      return node.poll(sends);
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
        node.connected(true);
        connectsLeft--;
        disconnectsLeft++;
      }
      case ADDR_ERROR, ROUTE_ERROR, CONNECT_ERROR, UNREACHABLE, REJECTED -> {
        out.println("cmatose: event: " + event.type().text() + ", error: " + event.status());
        connectsLeft--;
        throw new Failure("ucmatose: " + event, event.status());
      }
      case DISCONNECTED -> {
        disconnect(id);
        node.connected(false);
        disconnectsLeft--;
      }
      case DEVICE_REMOVAL -> {
        out.println("cmatose: event: " + event.type().text() + ", error: " + event.status());
        throw Failure.removal("ucmatose: " + event);
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
      if (options.ackTimeout() >= 0) {
        id.ackTimeout(options.ackTimeout());
      }
    } catch (VerbsException e) {
      err.println(new Failure("set option failed", e).getMessage());
    }
    try {
      id.resolveRoute(ROUTE_TIMEOUT);
    } catch (VerbsException e) {
      throw new Failure("resolve route failed", e);
    }
  }

  private void connect(Node node) throws Failure {
    node.make();
    try {
      node.id().connect(ConnectionParameters.DEFAULT.withDepths(1, 1).withRetries(RETRIES, 0));
    } catch (VerbsException e) {
      throw new Failure("failure connecting", e);
    }
  }

  private void accept(RdmaCmId id) throws Failure {
    if (nodes.size() == options.connections()) {
      out.println("cmatose: failing connection request");
      reject(id);
      return;
    }
    Node node = new Node(id, options);
    nodes.add(node);
    try {
      node.make();
      if (options.ackTimeout() >= 0) {
        id.ackTimeout(options.ackTimeout());
      }
      id.accept(null);
    } catch (Failure e) {
      out.println("cmatose: failing connection request");
      reject(id);
      throw e;
    } catch (VerbsException e) {
      throw new Failure("failure accepting", e);
    }
  }

  private static void reject(RdmaCmId id) {
    try (id) {
      id.reject(NOTHING);
    } catch (VerbsException e) {
      // The peer has given up meanwhile, or the device has gone: nobody is left to be refused.
      return;
    }
  }

  /** Goes over to another channel, with the listener where there is one. */
  void migrate(RdmaCmId listener) throws Failure {
    out.println("migrating to new event channel");
    try {
      EventChannel other = cm.createEventChannel();
      if (listener != null) {
        listener.migrate(other);
      }
      nodes.forEach(node -> node.id().migrate(other));
      channel.close();
      channel = other;
    } catch (VerbsException e) {
      throw new Failure("failure migrating to channel", e);
    }
  }

  /** Drops all connections and waits for new ones. */
  void reset() {
    nodes.forEach(Node::close);
    nodes.clear();
    connectsLeft = options.connections();
    disconnectsLeft = 0;
  }

  /** Gives everything back. */
  void close() {
    nodes.forEach(Node::close);
    channel.close();
  }
}
