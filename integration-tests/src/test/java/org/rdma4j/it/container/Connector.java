package org.rdma4j.it.container;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.rdma4j.ib.core.verbs.QpCapabilities;
import org.rdma4j.ib.core.verbs.QpInitAttributes;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.SendFlag;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.ib.core.verbs.WorkCompletion;
import org.rdma4j.ib.core.verbs.WrOpcode;
import org.rdma4j.rdma.cm.EventChannel;
import org.rdma4j.rdma.cm.PortSpace;
import org.rdma4j.rdma.cm.RdmaCm;
import org.rdma4j.rdma.cm.RdmaCmEvent;
import org.rdma4j.rdma.cm.RdmaCmEventType;
import org.rdma4j.rdma.cm.RdmaCmId;

/** Makes connections to a {@link ConnectionServer}, one after the other, sends a message over each, and ends it. */
final class Connector implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final long LOOK_NANOS = 20_000;

  /** What stopped a connection on its way. */
  static final class Stopped extends Exception {
    private static final long serialVersionUID = 1;

    Stopped(String what) {
      super(what);
    }
  }

  private final RdmaCm manager;
  private final EventChannel channel;
  private final InetSocketAddress from;
  private final InetSocketAddress to;

  Connector(RdmaCm service, String from, String to, int port) {
    this.manager = service.open("connector");
    this.channel = manager.createEventChannel();
    this.from = new InetSocketAddress(from, 0);
    this.to = new InetSocketAddress(to, port);
  }

  /** A connection from its begin to its end. */
  void run() throws Stopped {
    try (RdmaCmId id = manager.createId(channel, PortSpace.TCP, null)) {
      id.resolveAddress(from, to, PATIENCE);
      await(RdmaCmEventType.ADDR_RESOLVED);
      id.resolveRoute(PATIENCE);
      await(RdmaCmEventType.ROUTE_RESOLVED);
      id.createQp(
          null,
          new QpInitAttributes(QpType.RC).signalAll(true).capabilities(new QpCapabilities(1, 1, 1, 1, 0)));
      id.connect(null);
      await(RdmaCmEventType.ESTABLISHED);
      send(id);
      id.disconnect();
      await(RdmaCmEventType.DISCONNECTED);
    } catch (VerbsException e) {
      throw new Stopped(e.toString());
    }
  }

  private void await(RdmaCmEventType wanted) throws Stopped {
    RdmaCmEvent event = channel.getEvent(PATIENCE);
    if (event == null || event.type() != wanted) {
      throw new Stopped(event == null ? "no " + wanted + " in " + PATIENCE : event.toString());
    }
  }

  private static void send(RdmaCmId id) throws Stopped {
    id.qp().postSend(new SendWorkRequest().wrId(2).opcode(WrOpcode.SEND).flags(SendFlag.SIGNALED));
    WorkCompletion[] batch = WorkCompletion.batch(1);
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (id.qp().sendCq().poll(batch) == 0) {
      if (System.nanoTime() - deadline > 0) {
        throw new Stopped("the message does not complete in " + PATIENCE);
      }
      LockSupport.parkNanos(LOOK_NANOS);
    }
    if (batch[0].status() != WcStatus.SUCCESS) {
      throw new Stopped(batch[0].toString());
    }
  }

  @Override
  public void close() {
    manager.close();
  }
}
