package org.rdma4j.it.container;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.QpCapabilities;
import org.rdma4j.ib.core.verbs.QpInitAttributes;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.QueuePair;
import org.rdma4j.ib.core.verbs.ReceiveWorkRequest;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.rdma.cm.ConnectionParameters;
import org.rdma4j.rdma.cm.EventChannel;
import org.rdma4j.rdma.cm.PortSpace;
import org.rdma4j.rdma.cm.RdmaCm;
import org.rdma4j.rdma.cm.RdmaCmEvent;
import org.rdma4j.rdma.cm.RdmaCmId;

/** Listens on all addresses, on a thread of its own, and agrees to whatever connection somebody wants. */
final class Answerer {
  private static final Duration LOOK = Duration.ofMillis(50);

  private final RdmaCm manager;
  private final EventChannel channel;
  private final RdmaCmId listener;
  private final Thread thread;
  private final List<String> problems = Collections.synchronizedList(new ArrayList<>());
  private final AtomicLong established = new AtomicLong();
  private volatile boolean stopping;

  Answerer(RdmaCm service) {
    manager = service.open("answerer");
    channel = manager.createEventChannel();
    listener = manager.createId(channel, PortSpace.TCP, null);
    listener.bindAddress(new InetSocketAddress("0.0.0.0", 0));
    listener.listen(0);
    thread = Thread.ofPlatform().name("answers").start(this::work);
  }

  int port() {
    return listener.localAddress().getPort();
  }

  List<String> problems() {
    return List.copyOf(problems);
  }

  long established() {
    return established.get();
  }

  private void work() {
    while (!stopping) {
      RdmaCmEvent event;
      try {
        event = channel.getEvent(LOOK);
      } catch (VerbsException e) {
        return; // The manager has gone, and what was made through it.
      }
      if (event != null) {
        try {
          answer(event);
        } catch (VerbsException e) {
          if (!isOfARemoval(e)) {
            problems.add(event + ": " + e);
          }
          event.id().close();
        } catch (RuntimeException e) {
          problems.add(event + ": " + e);
        }
      }
    }
  }

  /** What may come of a call to a device or a manager that goes. */
  static boolean isOfARemoval(VerbsException e) {
    return e.errno() == Errno.ENODEV || e.errno() == Errno.EIO || e.errno() == Errno.EINVAL;
  }

  private void answer(RdmaCmEvent event) {
    RdmaCmId id = event.id();
    switch (event.type()) {
      case CONNECT_REQUEST -> {
        QueuePair qp =
            id.createQp(
                null, new QpInitAttributes(QpType.RC).capabilities(new QpCapabilities(2, 2, 1, 1, 0)).signalAll(true));
        qp.postReceive(new ReceiveWorkRequest().wrId(1));
        id.accept(ConnectionParameters.DEFAULT.withPrivateData(event.privateData()));
      }
      case ESTABLISHED -> established.incrementAndGet();
      case DISCONNECTED -> {
        id.disconnect();
        id.close();
      }
      case TIMEWAIT_EXIT -> {
        // Nothing is left to do.
      }
      default -> id.close();
    }
  }

  void close() throws InterruptedException {
    stopping = true;
    thread.join();
    manager.close();
  }
}
