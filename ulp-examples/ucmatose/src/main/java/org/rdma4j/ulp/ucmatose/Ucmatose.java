package org.rdma4j.ulp.ucmatose;

import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.rdma.cm.PortSpace;
import org.rdma4j.rdma.cm.RdmaCm;
import org.rdma4j.rdma.cm.RdmaCmId;
import org.rdma4j.rdma.cm.RdmaCmState;
import org.rdma4j.ulp.command.Command;
import org.rdma4j.ulp.command.CommandException;
import org.rdma4j.ulp.command.UsageException;

/**
 * One run of {@code ucmatose}, from its options to its exit status. A server whose device goes drops its connections
 * and waits for new ones.
 */
final class Ucmatose implements Command {
  private static final Duration ADDRESS_TIMEOUT = Duration.ofSeconds(2);
  private static final long RETRY_MILLIS = 100;
  private static final int STATUS_MASK = 0xff;

  private final RdmaCm manager;
  private final boolean devices;

  /**
   * Prepares a run.
   *
   * @param manager makes the connections
   * @param devices whether there are any
   */
  Ucmatose(RdmaCm manager, boolean devices) {
    this.manager = manager;
    this.devices = devices;
  }

  @Override
  public int run(String[] arguments, PrintStream out, PrintStream err) throws CommandException, InterruptedException {
    UcmatoseOptions options;
    try {
      options = UcmatoseOptions.parse(arguments);
    } catch (UsageException e) {
      err.println(e.getMessage());
      out.print(Usage.TEXT);
      return 1;
    }
    options.warnings().forEach(err::println);
    if (!devices) {
      throw new CommandException("No RDMA devices were detected");
    }
    try (RdmaCm cm = manager.open("ucmatose")) {
      Connections connections = new Connections(cm, options, out, err);
      int status = 0;
      try {
        if (options.server() == null) {
          serve(cm, connections, options, out, err);
        } else {
          connect(cm, connections, options, out);
        }
      } catch (Failure e) {
        err.println(e.getMessage());
        status = e.status();
      }
      out.println("test complete");
      connections.close();
      out.println("return status " + status);
      return status & STATUS_MASK;
    }
  }

  private static PortSpace portSpace(UcmatoseOptions options) {
    return options.infiniband() ? PortSpace.IB : PortSpace.TCP;
  }

  private static void connect(RdmaCm cm, Connections connections, UcmatoseOptions options, PrintStream out)
      throws Failure, InterruptedException {
    out.println("cmatose: starting client");
    Addresses addresses = new Addresses(options, out);
    InetSocketAddress server = addresses.server();
    InetSocketAddress source = addresses.source();
    out.println("cmatose: connecting");
    try {
      for (int i = 0; i < options.connections(); i++) {
        connections.add(cm.createId(connections.channel(), portSpace(options), null));
        connections.nodes().getLast().id().resolveAddress(source, server, ADDRESS_TIMEOUT);
      }
    } catch (VerbsException e) {
      throw new Failure("failure getting addr", e);
    }
    try {
      connections.awaitConnects();
      if (options.messages() > 0) {
        out.println("receiving data transfers");
        connections.poll(false);
        out.println("sending replies");
        connections.postSends();
        out.println("data transfers complete");
      }
      if (options.migrate()) {
        connections.migrate(null);
      }
    } catch (Failure e) {
      connections.disconnect();
      throw e;
    }
    connections.awaitDisconnects();
  }

  private static void serve(
      RdmaCm cm, Connections connections, UcmatoseOptions options, PrintStream out, PrintStream err)
      throws Failure, InterruptedException {
    out.println("cmatose: starting server");
    InetSocketAddress address = new Addresses(options, out).listen();
    RdmaCmId listener = listen(cm, connections, options, address);
    boolean served = false;
    while (!served) {
      try {
        converse(connections, listener, options, out);
        served = true;
      } catch (Failure e) {
        if (!e.isRemoval()) {
          throw e;
        }
        err.println(e.getMessage());
        connections.reset();
        if (listener.state() == RdmaCmState.DEVICE_REMOVAL) {
          listener.close();
          listener = listenAgain(cm, connections, options, address);
        }
      }
    }
    listener.close();
  }

  private static RdmaCmId listen(
      RdmaCm cm, Connections connections, UcmatoseOptions options, InetSocketAddress address) throws Failure {
    String call = "listen request failed";
    RdmaCmId listener = null;
    try {
      listener = cm.createId(connections.channel(), portSpace(options), null);
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
      RdmaCm cm, Connections connections, UcmatoseOptions options, InetSocketAddress address)
      throws InterruptedException {
    while (true) {
      try {
        return listen(cm, connections, options, address);
      } catch (Failure e) {
        Thread.sleep(RETRY_MILLIS); // until the device that has the address is back
      }
    }
  }

  private static void converse(
      Connections connections, RdmaCmId listener, UcmatoseOptions options, PrintStream out)
      throws Failure, InterruptedException {
    connections.awaitConnects();
    if (options.messages() > 0) {
      out.println("initiating data transfers");
      connections.postSends();
      out.println("completing sends");
      connections.poll(true);
      out.println("receiving data transfers");
      connections.poll(false);
      out.println("data transfers complete");
    }
    if (options.migrate()) {
      connections.migrate(listener);
    }
    out.println("cmatose: disconnecting");
    connections.disconnect();
    connections.awaitDisconnects();
    out.println("disconnected");
  }
}
