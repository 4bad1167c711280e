package org.rdma4j.benchmarks.speed;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.rdma4j.ib.core.verbs.Access;
import org.rdma4j.ib.core.verbs.CompletionQueue;
import org.rdma4j.ib.core.verbs.MemoryRegion;
import org.rdma4j.ib.core.verbs.QpCapabilities;
import org.rdma4j.ib.core.verbs.QpInitAttributes;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.rdma.cm.ConnectionParameters;
import org.rdma4j.rdma.cm.EventChannel;
import org.rdma4j.rdma.cm.PortSpace;
import org.rdma4j.rdma.cm.RdmaCmEvent;
import org.rdma4j.rdma.cm.RdmaCmId;
import org.rdma4j.roce.address.Gid;

/** Agrees to every connection; its memory may be written, and where it is stands in the private data. */
final class CmServer implements AutoCloseable {
  static final int BYTES = 4096;
  static final int DEPTH = 16;

  final int port;
  private final CmEnd end;
  private final EventChannel channel;
  private final Arena arena = Arena.ofShared();
  private final Map<RdmaCmId, Boolean> connected = new ConcurrentHashMap<>();
  private final CompletionQueue queue;
  private final MemoryRegion region;

  CmServer(CmEnd end) {
    this.end = end;
    channel = end.manager.createEventChannel();
    RdmaCmId listener = end.manager.createId(channel, PortSpace.TCP, null);
    listener.bindAddress(new InetSocketAddress(end.address, 0));
    MemorySegment memory = arena.allocate(BYTES, BYTES);
    region = listener.domain().registerMemory(memory, Access.LOCAL_WRITE, Access.REMOTE_WRITE);
    queue = listener.verbs().createCq(1024, null, 0);
    channel.handler(this::onEvent);
    listener.listen(0);
    port = listener.localAddress().getPort();
  }

  static QpInitAttributes attributes(CompletionQueue queue) {
    return new QpInitAttributes(QpType.RC)
        .sendCq(queue)
        .recvCq(queue)
        .capabilities(new QpCapabilities(DEPTH, 1, 1, 1, 0));
  }

  private void onEvent(RdmaCmEvent event) {
    RdmaCmId id = event.id();
    switch (event.type()) {
      case CONNECT_REQUEST -> {
        id.createQp(null, attributes(queue));
        byte[] where = ByteBuffer.allocate(12).putLong(region.address()).putInt(region.rkey()).array();
        id.accept(ConnectionParameters.DEFAULT.withPrivateData(where));
      }
      case ESTABLISHED -> connected.put(id, true);
      case TIMEWAIT_EXIT -> {
        // Nothing is left to do.
      }
      default -> {
        connected.remove(id);
        id.close();
      }
    }
  }

  @Override
  public void close() {
    channel.close();
    region.close();
    queue.close();
    arena.close();
    end.close();
  }

  /**
   * Serves as a process until its input ends.
   *
   * @param arguments the address, as a GID
   * @throws IOException when the parent is gone
   */
  public static void main(String[] arguments) throws IOException {
    try (CmServer server = new CmServer(new CmEnd("rxe1", Gid.parse(arguments[0])))) {
      System.out.println(server.port);
      while (System.in.read() >= 0) {
        // Until the parent has enough.
      }
    }
  }
}
