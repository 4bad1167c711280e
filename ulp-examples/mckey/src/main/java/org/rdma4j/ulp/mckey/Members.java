package org.rdma4j.ulp.mckey;

import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.rdma4j.ib.core.verbs.AhAttributes;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.rdma.cm.EventChannel;
import org.rdma4j.rdma.cm.MulticastJoin;
import org.rdma4j.rdma.cm.PortSpace;
import org.rdma4j.rdma.cm.RdmaCm;
import org.rdma4j.rdma.cm.RdmaCmEvent;
import org.rdma4j.rdma.cm.RdmaCmId;
import org.rdma4j.ulp.command.Patience;

/** The members of the group on this side, and what the events of their identifiers do. Belongs to one thread. */
final class Members implements AutoCloseable {
  private static final Duration ADDRESS_TIMEOUT = Duration.ofSeconds(2);
  private static final Duration REMOVAL_PATIENCE = Duration.ofSeconds(2);
  private static final int EINVAL = 22;
  private static final int NO_NAME = -2;

  private final MckeyOptions options;
  private final PrintStream out;
  private final PrintStream err;
  private final EventChannel channel;
  private final List<Node> nodes = new ArrayList<>();
  private InetAddress group;
  private int joinsLeft;

  Members(RdmaCm cm, PortSpace space, MckeyOptions options, PrintStream out, PrintStream err) {
    this.options = options;
    this.out = out;
    this.err = err;
    channel = cm.createEventChannel();
    for (int i = 0; i < options.connections(); i++) {
      nodes.add(new Node(cm.createId(channel, space, null), options));
    }
    joinsLeft = options.connections();
  }

  /** Joins the group with all members. */
  void join() throws Failure, InterruptedException {
    InetSocketAddress source = options.bind() == null ? null : new InetSocketAddress(host(options.bind()), 0);
    group = host(options.group());
    out.println("mckey: joining");
    for (Node node : nodes) {
      String call = "addr bind failure";
      try {
        if (source != null) {
          node.id().bindAddress(source);
        }
        call = "resolve addr failure";
        if (options.unmapped()) {
          join(node);
        } else {
          node.id().resolveAddress(source, new InetSocketAddress(group, 0), ADDRESS_TIMEOUT);
        }
      } catch (VerbsException e) {
        throw new Failure(call, e);
      }
    }
    while (joinsLeft > 0) {
      handle(next(null));
    }
  }

  private InetAddress host(String name) throws Failure {
    try {
      return InetAddress.getByName(name);
    } catch (UnknownHostException e) {
      out.println("getaddrinfo failed (Name or service not known) - invalid hostname or IP address");
      throw new Failure("mckey: " + name + " is no host name and no address", NO_NAME);
    }
  }

  private void handle(RdmaCmEvent event) throws Failure {
    Node node = (Node) event.id().context();
    switch (event.type()) {
      case ADDR_RESOLVED -> join(node);
      case MULTICAST_JOIN -> {
        AhAttributes way = event.datagram().way();
        out.println(
            "mckey: joined dgid: " + way.destinationGid() + " mlid 0x" + Integer.toHexString(way.destinationLid())
                + " sl " + way.serviceLevel());
        node.joined(event.datagram());
        joinsLeft--;
      }
      case ADDR_ERROR, ROUTE_ERROR, MULTICAST_ERROR, DEVICE_REMOVAL -> {
        out.println("mckey: event: " + event.type().text() + ", error: " + event.status());
        throw new Failure("mckey: " + event, event.status() == 0 ? -1 : event.status());
      }
      case ADDR_CHANGE -> out.println("mckey: event: " + event.type().text() + ", status: " + event.status());
      default -> {
        // Nothing to do, as in the original.
      }
    }
  }

  private void join(Node node) throws Failure {
    RdmaCmId id = node.id();
    int mtu = id.verbs().device().port(id.port()).activeMtu().bytes();
    if (options.messages() > 0 && options.size() > mtu) {
      String text = "mckey: message_size " + options.size() + " is larger than active mtu " + mtu;
      throw new Failure(text, -EINVAL);
    }
    node.make();
    try {
      id.joinMulticast(group, options.sendOnly() ? MulticastJoin.SEND_ONLY : MulticastJoin.FULL_MEMBER);
    } catch (VerbsException e) {
      throw new Failure("failure joining", e);
    }
  }

  /** Lets time pass, in which events are looked at. */
  void pause(Duration length) throws Failure, InterruptedException {
    long end = System.nanoTime() + length.toNanos();
    for (long left = length.toNanos(); left > 0; left = end - System.nanoTime()) {
      handleWaiting(Duration.ofNanos(left));
    }
  }

  /** Sends all messages of all members. */
  void send() throws Failure, InterruptedException {
    for (Node node : nodes) {
      node.postSends();
    }
    poll(1);
  }

  /** Waits until all members have got all messages. */
  void receive() throws Failure, InterruptedException {
    poll(options.messages());
  }

  private void poll(int completions) throws Failure, InterruptedException {
    Patience patience = new Patience();
    for (Node node : nodes) {
      int left = completions;
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
      throw new Failure("rdma_get_cm_event", e);
    }
  }

  /** Leaves the group with all members. */
  int leave() {
    int status = 0;
    for (Node node : group == null ? List.<Node>of() : nodes) {
      try {
        node.id().leaveMulticast(group);
      } catch (VerbsException e) {
        err.println(new Failure("failure leaving", e).getMessage());
        status = -1;
      }
    }
    return status;
  }

  /** Gives everything back. */
  @Override
  public void close() {
    nodes.forEach(Node::close);
    channel.close();
  }
}
