package org.rdma4j.ulp.rping;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.rdma.cm.EventChannel;
import org.rdma4j.rdma.cm.PortSpace;
import org.rdma4j.rdma.cm.RdmaCm;
import org.rdma4j.rdma.cm.RdmaCmEvent;
import org.rdma4j.rdma.cm.RdmaCmEventType;
import org.rdma4j.rdma.cm.RdmaCmId;
import org.rdma4j.ulp.command.CommandException;

/**
 * The side that listens: for one connection, or for any number at once, each served by a thread of its own. Where it
 * listens on all addresses it follows the devices; where on one, and its device goes, it listens again when that is
 * back.
 */
final class Server implements AutoCloseable {
  private static final int BACKLOG = 3;
  private static final long RETRY_MILLIS = 100;

  private final RdmaCm cm;
  private final EventChannel channel;
  private final RpingOptions options;
  private final Output output;
  /** Of what is no connection; empty when there are no more. */
  private final BlockingQueue<Optional<RdmaCmEvent>> events = new LinkedBlockingQueue<>();

  private final Set<Thread> threads = ConcurrentHashMap.newKeySet();
  private RdmaCmId listener;

  Server(RdmaCm cm, EventChannel channel, RpingOptions options, Output output) {
    this.cm = cm;
    this.channel = channel;
    this.options = options;
    this.output = output;
  }

  /** An event that is not of a connection. */
  void onEvent(RdmaCmEvent event) {
    events.add(Optional.of(event));
  }

  /** There are no more events. */
  void lost(VerbsException why) {
    output.error("rdma_get_cm_event", why);
    events.add(Optional.empty());
  }

  /** Serves; the exit status. */
  int run() throws CommandException, InterruptedException {
    listen();
    while (true) {
      RdmaCmEvent event = events.take().orElse(null);
      if (event == null) {
        return Output.FAILED;
      }
      if (event.type() == RdmaCmEventType.DEVICE_REMOVAL && event.id() == listener) {
        output.error("cma detected device removal!!!!");
        listenAgain();
      } else if (event.type() == RdmaCmEventType.CONNECT_REQUEST) {
        ServerSide side = new ServerSide(event.id(), options, output);
        if (!options.persistent()) {
          listener.close();
          ServerSide.End end = side.serve();
          if (end != ServerSide.End.REMOVED) {
            return end == ServerSide.End.DISCONNECTED ? 0 : Output.FAILED;
          }
          listenAgain();
        } else {
          start(side, event.id());
        }
      }
    }
  }

  private void listen() throws CommandException {
    listener = cm.createId(channel, PortSpace.TCP, this);
    output.debug("created cm_id " + listener.number());
    String call = "rdma_bind_addr";
    try {
      InetAddress address = options.address() == null ? Rping.ANY : options.address();
      listener.bindAddress(new InetSocketAddress(address, options.port()));
      output.debug("rdma_bind_addr successful");
      call = "rdma_listen";
      output.debug("rdma_listen");
      listener.listen(BACKLOG);
    } catch (VerbsException e) {
      listener.close();
      throw Output.failure(call, e);
    }
  }

  private void listenAgain() throws InterruptedException {
    listener.close();
    boolean listening = false;
    while (!listening) {
      try {
        listen();
        listening = true;
      } catch (CommandException e) {
        output.debug(e.getMessage());
        Thread.sleep(RETRY_MILLIS);
      }
    }
  }

  private void start(ServerSide side, RdmaCmId id) {
    Thread thread = Thread.ofPlatform().daemon().name("rping cm_id " + id.number()).unstarted(() -> serve(side));
    threads.add(thread);
    thread.start();
  }

  private void serve(ServerSide side) {
    try {
      side.serve();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      threads.remove(Thread.currentThread());
    }
  }

  /** Ends the threads of connections that are still there. */
  @Override
  public void close() {
    Set.copyOf(threads).forEach(Thread::interrupt);
    for (Thread thread : Set.copyOf(threads)) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
    }
  }
}
