package org.rdma4j.it.peer.cm;

import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.QpCapabilities;
import org.rdma4j.ib.core.verbs.QpInitAttributes;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.rdma.cm.EventChannel;
import org.rdma4j.rdma.cm.PortSpace;
import org.rdma4j.rdma.cm.RdmaCm;
import org.rdma4j.rdma.cm.RdmaCmEvent;
import org.rdma4j.rdma.cm.RdmaCmEventType;
import org.rdma4j.rdma.cm.RdmaCmId;

/** One end of connections, which prints every event that it gets, as {@code cm.py} does. */
final class CmPeer {
  private static final Duration LIMIT = Duration.ofSeconds(90);
  private static final Duration RESOLVE = Duration.ofSeconds(5);
  private static final long LOOK_MILLIS = 20;
  private static final long NANOS_PER_MILLI = 1_000_000;
  private static final QpCapabilities SIZES = new QpCapabilities(1, 1, 1, 1, 0);
  private static final Set<RdmaCmEventType> QUIET =
      EnumSet.of(RdmaCmEventType.ADDR_RESOLVED, RdmaCmEventType.ROUTE_RESOLVED, RdmaCmEventType.TIMEWAIT_EXIT);
  private static final Set<RdmaCmEventType> ENDS =
      EnumSet.of(
          RdmaCmEventType.DISCONNECTED,
          RdmaCmEventType.UNREACHABLE,
          RdmaCmEventType.CONNECT_ERROR,
          RdmaCmEventType.REJECTED);

  private final CmPeerOptions options;
  private final PrintStream out;
  private final RdmaCm manager;
  private final EventChannel channel;
  private final Map<RdmaCmId, Long> began = new HashMap<>();

  CmPeer(RdmaCm manager, CmPeerOptions options, PrintStream out) {
    this.manager = manager;
    this.options = options;
    this.out = out;
    this.channel = manager.createEventChannel();
  }

  void serve() throws InterruptedException {
    try (RdmaCmId listener = manager.createId(channel, PortSpace.TCP, null)) {
      listener.bindAddress(options.address());
      listener.listen(options.backlog());
      say("listening");
      await(options.until());
      for (int left = options.count(); left > 0; ) {
        RdmaCmEvent event = next();
        if (event.type() == RdmaCmEventType.CONNECT_REQUEST) {
          begin(event.id());
          left -= answer(event.id()) ? 0 : 1;
        } else if (ENDS.contains(event.type())) {
          end(event.id());
          left--;
        }
      }
    }
  }

  /** Whether there is a connection to come. */
  private boolean answer(RdmaCmId id) {
    switch (options.answer()) {
      case "accept" -> {
        createQp(id);
        id.accept(options.parameters());
        return true;
      }
      case "reject" -> {
        id.reject(options.data());
        id.close();
        return false;
      }
      default -> {
        return true;
      }
    }
  }

  void connect() throws InterruptedException {
    await(options.from());
    Set<RdmaCmId> left = new LinkedHashSet<>();
    for (int i = 0; i < options.count(); i++) {
      RdmaCmId id = manager.createId(channel, PortSpace.TCP, null);
      id.resolveAddress(null, options.address(), RESOLVE);
      if (next().type() != RdmaCmEventType.ADDR_RESOLVED) {
        return;
      }
      id.resolveRoute(RESOLVE);
      if (next().type() != RdmaCmEventType.ROUTE_RESOLVED) {
        return;
      }
      createQp(id);
      left.add(id);
    }
    for (RdmaCmId each : left) {
      begin(each);
      each.connect(options.parameters());
    }
    say("connecting");
    int waiting = left.size();
    while (!left.isEmpty()) {
      RdmaCmEvent event = next();
      if (event.type() == RdmaCmEventType.ESTABLISHED && --waiting == 0) {
        await(options.until());
        for (RdmaCmId each : List.copyOf(left)) {
          begin(each);
          disconnect(each);
        }
      } else if (ENDS.contains(event.type())) {
        left.remove(event.id());
        end(event.id());
      }
    }
  }

  private static void createQp(RdmaCmId id) {
    id.createQp(null, new QpInitAttributes(QpType.RC).capabilities(SIZES));
  }

  private static void end(RdmaCmId id) {
    disconnect(id);
    id.close();
  }

  /** Refused where the peer was first and has our answer, and where there was no connection. */
  private static void disconnect(RdmaCmId id) {
    try {
      id.disconnect();
    } catch (VerbsException e) {
      if (e.errno() != Errno.EINVAL) {
        throw e;
      }
    }
  }

  private void begin(RdmaCmId id) {
    began.put(id, System.nanoTime());
  }

  private RdmaCmEvent next() {
    RdmaCmEvent event = channel.getEvent(LIMIT);
    if (event == null) {
      throw new VerbsException(Errno.ETIMEDOUT, "no event within " + LIMIT);
    }
    if (!QUIET.contains(event.type())) {
      print(event);
    }
    return event;
  }

  private void print(RdmaCmEvent event) {
    StringBuilder text = new StringBuilder("event " + event.type() + " status " + event.status());
    Long start = began.get(event.id());
    if (start != null) {
      text.append(" after ").append((System.nanoTime() - start) / NANOS_PER_MILLI).append(" ms");
    }
    boolean refused = event.type() == RdmaCmEventType.REJECTED;
    if (refused || event.connection() != null) {
      if (!refused) {
        text.append(" resources ").append(event.connection().responderResources());
        text.append(" depth ").append(event.connection().initiatorDepth());
      }
      text.append(" data ").append(HexFormat.of().formatHex(event.privateData()).replaceFirst("(00)+$", ""));
    }
    say(text.toString());
    if (!event.detail().isEmpty()) {
      say("detail " + event);
    }
  }

  private void say(String line) {
    out.println(line);
    out.flush();
  }

  private static void await(Path file) throws InterruptedException {
    while (file != null && !Files.exists(file)) {
      Thread.sleep(LOOK_MILLIS);
    }
  }
}
