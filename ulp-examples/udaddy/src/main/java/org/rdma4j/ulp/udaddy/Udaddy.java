package org.rdma4j.ulp.udaddy;

import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Arrays;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.rdma.cm.PortSpace;
import org.rdma4j.rdma.cm.RdmaCm;
import org.rdma4j.rdma.cm.RdmaCmId;
import org.rdma4j.rdma.cm.RdmaCmState;
import org.rdma4j.ulp.command.Command;
import org.rdma4j.ulp.command.CommandException;
import org.rdma4j.ulp.command.UsageException;

/**
 * One run of {@code udaddy}, from its options to its exit status. A server whose device goes drops its queue pairs and
 * waits for new peers.
 */
final class Udaddy implements Command {
  private static final Duration ADDRESS_TIMEOUT = Duration.ofSeconds(2);
  private static final long RETRY_MILLIS = 100;
  private static final int STATUS_MASK = 0xff;

  private final RdmaCm manager;
  private final boolean devices;

  /**
   * Prepares a run.
   *
   * @param manager resolves services
   * @param devices whether there are any
   */
  Udaddy(RdmaCm manager, boolean devices) {
    this.manager = manager;
    this.devices = devices;
  }

  @Override
  public int run(String[] arguments, PrintStream out, PrintStream err) throws CommandException, InterruptedException {
    UdaddyOptions options;
    try {
      options = UdaddyOptions.parse(arguments);
    } catch (UsageException e) {
      err.println(e.getMessage());
      out.print(Usage.TEXT);
      return 1;
    }
    options.warnings().forEach(err::println);
    if (!devices) {
      throw new CommandException("No RDMA devices were detected");
    }
    try (RdmaCm cm = manager.open("udaddy")) {
      int status = 0;
      try (Nodes nodes = new Nodes(cm, options, out, err)) {
        if (options.server() == null) {
          serve(cm, nodes, options, out, err);
        } else {
          exchange(cm, nodes, options, out);
        }
      } catch (Failure e) {
        err.println(e.getMessage());
        status = e.status();
      }
      out.println("test complete");
      out.println("return status " + status);
      return status & STATUS_MASK;
    }
  }

  private static PortSpace portSpace(UdaddyOptions options) throws Failure {
    return Arrays.stream(PortSpace.values())
        .filter(space -> space.number() == options.portSpace())
        .findFirst()
        .orElseThrow(() -> new Failure("udaddy: there is no port space " + options.portSpace(), 1));
  }

  private static void exchange(RdmaCm cm, Nodes nodes, UdaddyOptions options, PrintStream out)
      throws Failure, InterruptedException {
    out.println("udaddy: starting client");
    Addresses addresses = new Addresses(options, out);
    InetSocketAddress server = addresses.server();
    InetSocketAddress source = addresses.source();
    out.println("udaddy: connecting");
    try {
      for (int i = 0; i < options.connections(); i++) {
        RdmaCmId id = cm.createId(nodes.channel(), portSpace(options), null);
        nodes.add(id);
        id.resolveAddress(source, server, ADDRESS_TIMEOUT);
      }
    } catch (VerbsException e) {
      throw new Failure("failure getting addr", e);
    }
    nodes.awaitConnects();
    if (options.messages() > 0) {
      out.println("initiating data transfers");
      nodes.postSends(false);
      out.println("receiving data transfers");
      nodes.poll();
      out.println("data transfers complete");
    }
  }

  private static void serve(RdmaCm cm, Nodes nodes, UdaddyOptions options, PrintStream out, PrintStream err)
      throws Failure, InterruptedException {
    out.println("udaddy: starting server");
    InetSocketAddress address = new Addresses(options, out).listen();
    RdmaCmId listener = listen(cm, nodes, options, address);
    boolean served = false;
    while (!served) {
      try {
        answer(nodes, options, out);
        served = true;
      } catch (Failure e) {
        if (!e.isRemoval()) {
          throw e;
        }
        err.println(e.getMessage());
        nodes.reset();
        if (listener.state() == RdmaCmState.DEVICE_REMOVAL) {
          listener.close();
          listener = listenAgain(cm, nodes, options, address);
        }
      }
    }
    listener.close();
  }

  private static RdmaCmId listen(
      RdmaCm cm, Nodes nodes, UdaddyOptions options, InetSocketAddress address) throws Failure {
    String call = "listen request failed";
    RdmaCmId listener = null;
    try {
      listener = cm.createId(nodes.channel(), portSpace(options), null);
      call = "bind address failed";
      listener.bindAddress(address);
      call = "failure trying to listen";
      listener.listen(0);
      return listener;
    } catch (VerbsException e) {
      if (listener != null) {
        listener.close();
      }
      throw new Failure(call, e);
    }
  }

  private static RdmaCmId listenAgain(
      RdmaCm cm, Nodes nodes, UdaddyOptions options, InetSocketAddress address) throws InterruptedException {
    while (true) {
      try {
        return listen(cm, nodes, options, address);
      } catch (Failure e) {
        Thread.sleep(RETRY_MILLIS); // until the device that has the address is back
      }
    }
  }

  private static void answer(Nodes nodes, UdaddyOptions options, PrintStream out)
      throws Failure, InterruptedException {
    nodes.awaitConnects();
    if (options.messages() > 0) {
      out.println("receiving data transfers");
      nodes.poll();
      out.println("sending replies");
      nodes.postSends(true);
      nodes.poll();
      out.println("data transfers complete");
    }
  }
}
