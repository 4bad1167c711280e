package org.rdma4j.ulp.rping;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.rdma.cm.EventChannel;
import org.rdma4j.rdma.cm.PortSpace;
import org.rdma4j.rdma.cm.RdmaCm;
import org.rdma4j.rdma.cm.RdmaCmId;
import org.rdma4j.ulp.command.CommandException;

/** The side that connects, offers a ping to be read, has it written back, and so on. */
final class Client {
  private static final Duration ADDRESS_TIMEOUT = Duration.ofSeconds(2);

  private final RpingOptions options;
  private final Output output;
  private final Conversation conversation;
  private final RdmaCmId id;

  Client(RdmaCm cm, EventChannel channel, RpingOptions options, Output output) {
    this.options = options;
    this.output = output;
    conversation = new Conversation(false, output);
    id = cm.createId(channel, PortSpace.TCP, conversation);
    output.debug("created cm_id " + id.number());
  }

  /** There are no more events. */
  void lost(VerbsException why) {
    output.error("rdma_get_cm_event", why);
    conversation.reach(RpingState.ERROR);
  }

  /** Sends all pings; the exit status. */
  int run() throws CommandException, InterruptedException {
    resolve();
    Endpoint endpoint;
    try {
      endpoint = new Endpoint(id, options, conversation, output);
    } catch (VerbsException e) {
      output.error("rdma_create_qp", e);
      throw new CommandException("setup_qp failed: -1", Output.FAILED, e);
    }
    try (endpoint) {
      connect(endpoint);
      boolean done = pings(endpoint);
      boolean disconnected = conversation.state() == RpingState.DISCONNECTED;
      endpoint.disconnect();
      if (!done && !disconnected) {
        throw new CommandException("rping client failed: -1", Output.FAILED, null);
      }
    }
    output.debug("destroy cm_id " + id.number());
    id.close();
    return 0;
  }

  private void resolve() throws CommandException, InterruptedException {
    try {
      InetSocketAddress source = options.source() == null ? null : new InetSocketAddress(options.source(), 0);
      InetAddress address = options.address() == null ? Rping.ANY : options.address();
      id.resolveAddress(source, new InetSocketAddress(address, options.port()), ADDRESS_TIMEOUT);
    } catch (VerbsException e) {
      throw Output.failure("rdma_resolve_addr", e);
    }
    RpingState state = conversation.await();
    if (state != RpingState.ROUTE_RESOLVED) {
      String text = "waiting for addr/route resolution state " + state.number();
      throw new CommandException(text, Output.FAILED, null);
    }
    output.debug("rdma_resolve_addr - rdma_resolve_route successful");
  }

  private void connect(Endpoint endpoint) throws CommandException, InterruptedException {
    String call = "rdma_connect";
    try {
      id.connect(endpoint.parameters());
      if (!conversation.await(RpingState.CONNECTED)) {
        throw new CommandException("connect error -1", Output.FAILED, null);
      }
      if (options.ownQp()) {
        call = "rping_modify_qp";
        endpoint.modify();
        call = "rdma_establish";
        id.establish();
      }
    } catch (VerbsException e) {
      output.error(call, e);
      throw new CommandException("connect error -1", Output.FAILED, e);
    }
    output.debug("rdma_connect successful");
  }

  private boolean pings(Endpoint endpoint) throws InterruptedException {
    try {
      for (int ping = 0; options.count() == 0 || ping < options.count(); ping++) {
        if (!ping(endpoint, ping)) {
          return false;
        }
      }
      return true;
    } catch (VerbsException e) {
      if (conversation.isRemoved(id)) {
        return false;
      }
      output.error("post send error " + e.errno().number() + "\nrping: " + e.getMessage());
      return false;
    }
  }

  private boolean ping(Endpoint endpoint, int ping) throws InterruptedException {
    conversation.move(RpingState.RDMA_READ_ADV);
    PingData.fill(endpoint.source(), ping);
    endpoint.offerSource();
    if (!conversation.await(RpingState.RDMA_WRITE_ADV)) {
      return false;
    }
    endpoint.offerSink();
    if (!conversation.await(RpingState.RDMA_WRITE_COMPLETE)) {
      return false;
    }
    if (options.validate() && endpoint.source().mismatch(endpoint.sink()) >= 0) {
      output.error("data mismatch!");
      return false;
    }
    if (options.verbose()) {
      output.line("ping data: " + PingData.text(endpoint.sink()));
    }
    return true;
  }
}
