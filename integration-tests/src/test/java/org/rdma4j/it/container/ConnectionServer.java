package org.rdma4j.it.container;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.rdma4j.ib.core.verbs.QpCapabilities;
import org.rdma4j.ib.core.verbs.QpInitAttributes;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.ReceiveWorkRequest;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.rdma.cm.EventChannel;
import org.rdma4j.rdma.cm.PortSpace;
import org.rdma4j.rdma.cm.RdmaCm;
import org.rdma4j.rdma.cm.RdmaCmEvent;
import org.rdma4j.rdma.cm.RdmaCmId;

/** Listens on all devices that there are and will be, and takes every connection with room for one message. */
final class ConnectionServer implements AutoCloseable {
  private final RdmaCm manager;
  private final EventChannel channel;
  private final RdmaCmId listener;
  private final AtomicLong established = new AtomicLong();
  private final List<String> problems = Collections.synchronizedList(new ArrayList<>());

  ConnectionServer(RdmaCm service) {
    manager = service.open("server");
    channel = manager.createEventChannel();
    channel.handler(this::handle);
    listener = manager.createId(channel, PortSpace.TCP, null);
    listener.bindAddress(new InetSocketAddress("0.0.0.0", 0));
    listener.listen(0);
  }

  int port() {
    return listener.localAddress().getPort();
  }

  long established() {
    return established.get();
  }

  List<String> problems() {
    return List.copyOf(problems);
  }

  private void handle(RdmaCmEvent event) {
    try {
      switch (event.type()) {
        case CONNECT_REQUEST -> accept(event.id());
        case ESTABLISHED -> established.incrementAndGet();
        case DISCONNECTED -> {
          event.id().disconnect();
          event.id().close();
        }
        case TIMEWAIT_EXIT, ADDR_CHANGE -> {
          // Nothing to do.
        }
        default -> event.id().close();
      }
    } catch (VerbsException e) {
      // The device or the manager has gone meanwhile, or the peer has.
      event.id().close();
    } catch (RuntimeException e) {
      problems.add(event + ": " + e);
    }
  }

  private static void accept(RdmaCmId id) {
    id.createQp(null, new QpInitAttributes(QpType.RC).capabilities(new QpCapabilities(1, 1, 1, 1, 0)));
    id.qp().postReceive(new ReceiveWorkRequest().wrId(1));
    id.accept(null);
  }

  @Override
  public void close() {
    manager.close();
  }
}
