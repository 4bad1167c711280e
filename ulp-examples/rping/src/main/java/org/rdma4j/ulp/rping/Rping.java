package org.rdma4j.ulp.rping;

import java.io.PrintStream;
import java.net.InetAddress;
import java.net.UnknownHostException;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.rdma.cm.EventChannel;
import org.rdma4j.rdma.cm.RdmaCm;
import org.rdma4j.rdma.cm.RdmaCmEvent;
import org.rdma4j.ulp.command.Command;
import org.rdma4j.ulp.command.CommandException;
import org.rdma4j.ulp.command.UsageException;

/** One run of {@code rping}, from its options to its exit status. */
final class Rping implements Command {
  /** Where nothing else is said. */
  static final InetAddress ANY = any();

  /** Exit status without devices: ENODEV. */
  private static final int NO_DEVICES = 19;

  private final RdmaCm manager;
  private final boolean devices;

  /**
   * Prepares a run.
   *
   * @param manager makes the connection
   * @param devices whether there are any
   */
  Rping(RdmaCm manager, boolean devices) {
    this.manager = manager;
    this.devices = devices;
  }

  @Override
  public int run(String[] arguments, PrintStream out, PrintStream err) throws CommandException, InterruptedException {
    RpingOptions options;
    try {
      options = RpingOptions.parse(out, arguments);
    } catch (UsageException e) {
      err.println(e.getMessage());
      out.print(Usage.TEXT);
      return RpingOptions.EINVAL;
    }
    if (!devices) {
      throw new CommandException("No RDMA devices were detected", NO_DEVICES, null);
    }
    Output output = new Output(out, err, options.debug());
    try (RdmaCm cm = manager.open("rping")) {
      EventChannel channel = cm.createEventChannel();
      return options.server() ? serve(cm, channel, options, output) : connect(cm, channel, options, output);
    } catch (VerbsException e) {
      throw Output.failure("rping", e);
    }
  }

  private static int connect(RdmaCm cm, EventChannel channel, RpingOptions options, Output output)
      throws CommandException, InterruptedException {
    Client client = new Client(cm, channel, options, output);
    try (EventThread _ = new EventThread(channel, event -> deliver(event, null, output), client::lost)) {
      return client.run();
    }
  }

  private static int serve(RdmaCm cm, EventChannel channel, RpingOptions options, Output output)
      throws CommandException, InterruptedException {
    try (Server server = new Server(cm, channel, options, output);
        EventThread _ = new EventThread(channel, event -> deliver(event, server, output), server::lost)) {
      return server.run();
    }
  }

  /** Events of a connection go to its conversation, others to the server. */
  private static void deliver(RdmaCmEvent event, Server server, Output output) {
    boolean connection = event.id().context() instanceof Conversation;
    String whose = server == null || !connection ? "parent" : "child";
    output.debug("cma_event type " + event.type().text() + " cma_id " + event.id().number() + " (" + whose + ")");
    if (event.id().context() instanceof Conversation conversation) {
      conversation.onEvent(event);
    } else if (server != null) {
      server.onEvent(event);
    }
  }

  private static InetAddress any() {
    try {
      return InetAddress.getByAddress(new byte[4]);
    } catch (UnknownHostException e) {
      throw new IllegalStateException("four bytes are an address", e);
    }
  }
}
