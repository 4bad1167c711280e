package org.rdma4j.ulp.rping;

import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.rdma.cm.RdmaCmId;

/** One connection at the server: accepts it, and reads and writes back one ping after the other until its end. */
final class ServerSide {
  private static final String FAILED = "setup_qp failed: -1";

  private final RdmaCmId id;
  private final RpingOptions options;
  private final Output output;
  private final Conversation conversation;

  /** Takes over a request; events of the identifier go to the conversation from now on. */
  ServerSide(RdmaCmId id, RpingOptions options, Output output) {
    this.id = id;
    this.options = options;
    this.output = output;
    conversation = new Conversation(true, output);
    id.context(conversation);
    output.debug("child cma " + id.number());
  }

  /** How a connection has ended. */
  enum End {
    /** The client has ended it, as it should. */
    DISCONNECTED,
    /** Something failed. */
    FAILED,
    /** The device has gone. */
    REMOVED
  }

  /** Serves until the connection ends. */
  End serve() throws InterruptedException {
    Endpoint endpoint;
    try {
      endpoint = new Endpoint(id, options, conversation, output);
    } catch (VerbsException e) {
      output.error("rdma_create_qp", e);
      output.error(FAILED);
      End end = conversation.isRemoved(id) ? End.REMOVED : End.FAILED;
      id.close();
      return end;
    }
    try (endpoint) {
      if (!accept(endpoint)) {
        output.error("connect error -1");
        return conversation.isRemoved(id) ? End.REMOVED : End.FAILED;
      }
      pings(endpoint);
      End end = End.DISCONNECTED;
      if (conversation.state() != RpingState.DISCONNECTED) {
        output.error("rping server failed: -1");
        end = conversation.isRemoved(id) ? End.REMOVED : End.FAILED;
      }
      endpoint.disconnect();
      return end;
    } finally {
      output.debug("destroy cm_id " + id.number());
      id.close();
    }
  }

  private boolean accept(Endpoint endpoint) throws InterruptedException {
    output.debug("accepting client connection request");
    try {
      if (options.ownQp()) {
        endpoint.modify();
      }
      id.accept(options.ownQp() ? endpoint.parameters() : null);
    } catch (VerbsException e) {
      output.error("rdma_accept", e);
      return false;
    }
    RpingState state = conversation.await();
    if (state == RpingState.ERROR) {
      output.error("wait for CONNECTED state " + state.number());
    }
    return state != RpingState.ERROR;
  }

  private void pings(Endpoint endpoint) throws InterruptedException {
    try {
      boolean goOn = ping(endpoint);
      while (goOn) {
        goOn = ping(endpoint);
      }
    } catch (VerbsException e) {
      if (!conversation.isRemoved(id) && !conversation.isOver()) {
        output.error("post send error " + e.errno().number() + "\nrping: " + e.getMessage());
      }
    }
  }

  private boolean ping(Endpoint endpoint) throws InterruptedException {
    if (!conversation.await(RpingState.RDMA_READ_ADV)) {
      return false;
    }
    output.debug("server received sink adv");
    endpoint.read();
    output.debug("server posted rdma read req ");
    if (!conversation.await(RpingState.RDMA_READ_COMPLETE)) {
      return false;
    }
    output.debug("server received read complete");
    if (options.verbose()) {
      output.line("server ping data: " + PingData.text(endpoint.sink()));
    }
    endpoint.goAhead();
    output.debug("server posted go ahead");
    if (!conversation.await(RpingState.RDMA_WRITE_ADV)) {
      return false;
    }
    output.debug("server received sink adv");
    endpoint.write();
    if (!conversation.await(RpingState.RDMA_WRITE_COMPLETE)) {
      return false;
    }
    output.debug("server rdma write complete ");
    endpoint.goAhead();
    output.debug("server posted go ahead");
    return true;
  }
}
