package org.rdma4j.it.container;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.rdma4j.ib.core.verbs.QpCapabilities;
import org.rdma4j.ib.core.verbs.QpInitAttributes;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.QueuePair;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.ib.core.verbs.WorkCompletion;
import org.rdma4j.ib.core.verbs.WrOpcode;
import org.rdma4j.rdma.cm.ConnectionParameters;
import org.rdma4j.rdma.cm.EventChannel;
import org.rdma4j.rdma.cm.PortSpace;
import org.rdma4j.rdma.cm.RdmaCm;
import org.rdma4j.rdma.cm.RdmaCmEvent;
import org.rdma4j.rdma.cm.RdmaCmEventType;
import org.rdma4j.rdma.cm.RdmaCmId;

/**
 * Makes connections and ends them, one after the other, on a thread of its own. Each attempt comes to an end that there
 * is a word for: made and ended, or an event or an error that says why not.
 */
final class Dialler {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final Duration LOOK = Duration.ofMillis(100);
  private static final Duration SOON = Duration.ofSeconds(2);
  private static final long PAUSE_NANOS = 20_000;
  private static final Set<RdmaCmEventType> ENDS =
      Set.of(
          RdmaCmEventType.ADDR_ERROR,
          RdmaCmEventType.ROUTE_ERROR,
          RdmaCmEventType.CONNECT_ERROR,
          RdmaCmEventType.UNREACHABLE,
          RdmaCmEventType.REJECTED,
          RdmaCmEventType.DISCONNECTED,
          RdmaCmEventType.DEVICE_REMOVAL);

  private final Supplier<RdmaCm> managers;
  private final String from;
  private final String to;
  private final Supplier<Integer> port;
  private final Thread thread;
  private final List<String> problems = Collections.synchronizedList(new ArrayList<>());
  private final AtomicLong made = new AtomicLong();
  private final AtomicLong failed = new AtomicLong();
  private volatile boolean stopping;

  /** An attempt that did not come to a connection, for a sound reason. */
  private static final class Ended extends RuntimeException {
    private static final long serialVersionUID = 1;

    Ended(RdmaCmEvent event) {
      super(event == null ? "given up" : event.toString());
    }
  }

  /** Makes one that begins at once. */
  Dialler(Supplier<RdmaCm> managers, String from, String to, Supplier<Integer> port) {
    this.managers = managers;
    this.from = from;
    this.to = to;
    this.port = port;
    this.thread = Thread.ofPlatform().name("dials").start(this::work);
  }

  List<String> problems() {
    return List.copyOf(problems);
  }

  /** How many connections were made and ended. */
  long made() {
    return made.get();
  }

  /** How many attempts came to another end. */
  long failed() {
    return failed.get();
  }

  private void work() {
    int number = 0;
    while (!stopping) {
      RdmaCm service = managers.get();
      if (service == null) {
        LockSupport.parkNanos(PAUSE_NANOS);
        continue;
      }
      try (RdmaCm manager = service.open("dialler")) {
        dial(manager, ++number);
        made.incrementAndGet();
      } catch (Ended e) {
        failed.incrementAndGet();
      } catch (VerbsException e) {
        failed.incrementAndGet();
        if (!Answerer.isOfARemoval(e)) {
          problems.add(e.toString());
        }
      } catch (RuntimeException e) {
        problems.add(e.toString());
      }
    }
  }

  private void dial(RdmaCm manager, int number) {
    EventChannel channel = manager.createEventChannel();
    RdmaCmId id = manager.createId(channel, PortSpace.TCP, null);
    id.resolveAddress(new InetSocketAddress(from, 0), new InetSocketAddress(to, port.get()), SOON);
    await(channel, RdmaCmEventType.ADDR_RESOLVED);
    id.resolveRoute(SOON);
    await(channel, RdmaCmEventType.ROUTE_RESOLVED);
    QueuePair qp =
        id.createQp(
            null, new QpInitAttributes(QpType.RC).capabilities(new QpCapabilities(2, 2, 1, 1, 0)).signalAll(true));
    byte[] said = ByteBuffer.allocate(4).putInt(number).array();
    id.connect(ConnectionParameters.DEFAULT.withPrivateData(said));
    RdmaCmEvent answer = await(channel, RdmaCmEventType.ESTABLISHED);
    if (!Arrays.equals(said, Arrays.copyOf(answer.privateData(), said.length))) {
      problems.add("the answer is somebody else's: " + Arrays.toString(answer.privateData()));
    }
    send(qp);
    id.disconnect();
    await(channel, RdmaCmEventType.DISCONNECTED);
    id.close();
  }

  /** A message without bytes, for which the peer has a receive. */
  private void send(QueuePair qp) {
    qp.postSend(new SendWorkRequest().wrId(2).opcode(WrOpcode.SEND));
    WorkCompletion[] batch = WorkCompletion.batch(1);
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (qp.sendCq().poll(batch) == 0) {
      if (System.nanoTime() > end) {
        problems.add("a message does not complete");
        throw new Ended(null);
      }
      LockSupport.parkNanos(PAUSE_NANOS);
    }
    WcStatus status = batch[0].status();
    if (status != WcStatus.SUCCESS) {
      if (status != WcStatus.WR_FLUSH_ERR && status != WcStatus.RETRY_EXC_ERR) {
        problems.add(batch[0].toString());
      }
      throw new Ended(null);
    }
  }

  private RdmaCmEvent await(EventChannel channel, RdmaCmEventType wanted) {
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (System.nanoTime() < end) {
      RdmaCmEvent event = channel.getEvent(LOOK);
      if (event == null && stopping) {
        throw new Ended(null);
      }
      if (event != null && event.type() == wanted && event.status() == 0) {
        return event;
      }
      if (event != null && ENDS.contains(event.type())) {
        throw new Ended(event);
      }
      if (event != null) {
        problems.add(event + " instead of " + wanted);
      }
    }
    problems.add("nothing comes instead of " + wanted);
    throw new Ended(null);
  }

  void close() throws InterruptedException {
    stopping = true;
    thread.join();
  }
}
