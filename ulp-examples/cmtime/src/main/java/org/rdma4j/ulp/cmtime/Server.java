package org.rdma4j.ulp.cmtime;

import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.rdma.cm.EventChannel;
import org.rdma4j.rdma.cm.PortSpace;
import org.rdma4j.rdma.cm.RdmaCm;
import org.rdma4j.rdma.cm.RdmaCmEvent;
import org.rdma4j.rdma.cm.RdmaCmEventType;
import org.rdma4j.rdma.cm.RdmaCmId;
import org.rdma4j.ulp.command.CommandException;

/**
 * The side that listens, until it is told to end: it accepts whoever asks and forgets who leaves. One thread makes
 * connections, another ends them. Where it listens on one address, and the device goes, it listens again when that is
 * back.
 */
final class Server implements AutoCloseable {
  private static final long RETRY_MILLIS = 100;
  private static final byte[] NOTHING = new byte[0];

  private final RdmaCm cm;
  private final InetSocketAddress address;
  private final PrintStream err;
  private final EventChannel channel;
  private final ExecutorService requests = worker("cmtime requests");
  private final ExecutorService ends = worker("cmtime disconnects");
  private RdmaCmId listener;

  Server(RdmaCm cm, InetSocketAddress address, PrintStream err) {
    this.cm = cm;
    this.address = address;
    this.err = err;
    channel = cm.createEventChannel();
  }

  private static ExecutorService worker(String name) {
    return Executors.newSingleThreadExecutor(Thread.ofPlatform().daemon().name(name).factory());
  }

  /** Serves until it is interrupted. */
  int run() throws CommandException, InterruptedException {
    listen();
    while (true) {
      RdmaCmEvent event = next();
      if (event.type() == RdmaCmEventType.DEVICE_REMOVAL && event.id() == listener) {
        listenAgain();
      } else {
        handle(event);
      }
    }
  }

  private RdmaCmEvent next() throws CommandException, InterruptedException {
    try {
      return channel.getEvent(null);
    } catch (VerbsException e) {
      if (e.errno() == Errno.ECANCELED && Thread.interrupted()) {
        throw new InterruptedException();
      }
      throw Cmtime.failure("failure in rdma_get_cm_event in process_server_events", e);
    }
  }

  private void handle(RdmaCmEvent event) {
    switch (event.type()) {
      case CONNECT_REQUEST -> requests.execute(() -> accept(event.id()));
      case DISCONNECTED, DEVICE_REMOVAL, UNREACHABLE, REJECTED, CONNECT_ERROR ->
          ends.execute(() -> end(event.id()));
      default -> {
        // Nothing to do, as in the original.
      }
    }
  }

  private void accept(RdmaCmId id) {
    String call = "failure creating qp";
    try {
      id.createQp(null, Cmtime.queuePair());
      call = "failure accepting";
      id.accept(null);
    } catch (VerbsException e) {
      err.println(Cmtime.text(call, e) + "\nfailing connection request");
      refuse(id);
    }
  }

  private static void refuse(RdmaCmId id) {
    try (id) {
      id.reject(NOTHING);
    } catch (VerbsException e) {
      // The peer has given up meanwhile, or the device has gone: nobody is left to be refused.
      return;
    }
  }

  private static void end(RdmaCmId id) {
    try (id) {
      id.disconnect();
    } catch (VerbsException e) {
      // The device has gone, or there is no connection: nothing to confirm.
      return;
    }
  }

  private void listen() throws CommandException {
    String call = "listen request failed";
    try {
      listener = cm.createId(channel, PortSpace.TCP, null);
      call = "bind address failed";
      listener.bindAddress(address);
      call = "failure trying to listen";
      listener.listen(0);
    } catch (VerbsException e) {
      if (listener != null) {
        listener.close();
      }
      throw Cmtime.failure(call, e);
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
        Thread.sleep(RETRY_MILLIS); // until the device that has the address is back
      }
    }
  }

  /** Ends its threads; what they still had to do ends with the identifiers. */
  @Override
  public void close() {
    requests.shutdownNow();
    ends.shutdownNow();
    requests.close();
    ends.close();
    channel.close();
  }
}
