package org.rdma4j.benchmarks.speed;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.rdma4j.benchmarks.report.Aim;
import org.rdma4j.benchmarks.report.Report;
import org.rdma4j.benchmarks.report.Row;
import org.rdma4j.benchmarks.report.Series;
import org.rdma4j.ib.core.verbs.CompletionQueue;
import org.rdma4j.ib.core.verbs.MemoryRegion;
import org.rdma4j.ib.core.verbs.SendFlag;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.ib.core.verbs.WorkCompletion;
import org.rdma4j.ib.core.verbs.WrOpcode;
import org.rdma4j.rdma.cm.EventChannel;
import org.rdma4j.rdma.cm.PortSpace;
import org.rdma4j.rdma.cm.RdmaCmEvent;
import org.rdma4j.rdma.cm.RdmaCmId;
import org.rdma4j.roce.address.Gid;

/**
 * Connections by address, made as {@code cmtime} makes them (address, route, queue pair, connection) and ended: how
 * many a second, within one process and between two; and traffic of some of a thousand connected queue pairs.
 */
final class Connections implements AutoCloseable {
  private static final Gid LEFT = Gid.parse("::ffff:127.77.105.1");
  private static final Gid RIGHT = Gid.parse("::ffff:127.77.105.2");
  private static final int AT_ONCE = 32;
  private static final int MANY = 1_000;
  private static final int ACTIVE = 100;
  private static final Duration SOON = Duration.ofSeconds(2);

  private final CmEnd end;
  private final InetSocketAddress peer;
  private final EventChannel channel;
  private final CompletionQueue queue;
  private final RdmaCmId holder;
  private final AtomicLong made = new AtomicLong();
  private final List<Connected> connected = new ArrayList<>(); // guarded by itself
  private volatile boolean goesOn;
  private volatile boolean keeps;
  private volatile CountDownLatch ended = new CountDownLatch(0);
  private volatile Throwable failure;

  /** A connection, and where its peer's memory is. */
  private record Connected(RdmaCmId id, long address, int rkey) {}

  private Connections(CmEnd end, InetAddress server, int port) {
    this.end = end;
    this.peer = new InetSocketAddress(server, port);
    this.channel = end.manager.createEventChannel();
    this.holder = end.manager.createId(channel, PortSpace.TCP, null);
    holder.bindAddress(new InetSocketAddress(end.address, 0));
    this.queue = holder.verbs().createCq(ACTIVE * CmServer.DEPTH, null, 0);
    channel.handler(this::onEvent);
  }

  static void measure(Report report, int rounds, double seconds) {
    double[] oneByOne = new double[rounds];
    double[] many = new double[rounds];
    double[] among = new double[rounds];
    double[] alone = new double[rounds];
    try (CmServer server = new CmServer(new CmEnd("rxe1", RIGHT));
        Connections client = new Connections(new CmEnd("rxe0", LEFT), RIGHT.toInetAddress(), server.port)) {
      client.rate(AT_ONCE, Math.max(seconds, 1)); // to get warm
      for (int round = 0; round < rounds; round++) {
        oneByOne[round] = client.rate(1, seconds);
        many[round] = client.rate(AT_ONCE, seconds);
        client.connect(ACTIVE);
        alone[round] = client.writes(seconds);
        client.connect(MANY - ACTIVE);
        among[round] = client.writes(seconds);
        client.disconnect();
      }
    }
    add(report, "connections a second, one process, one at a time", oneByOne);
    add(report, "connections a second, one process, " + AT_ONCE + " at a time", many);
    add(report, "connections a second, two processes, " + AT_ONCE + " at a time", twoProcesses(rounds, seconds));
    Series with = new Series("WRITE 4 KiB over " + ACTIVE + " of 1,000 connected queue pairs", "1/s", among);
    Series without = new Series("WRITE 4 KiB over " + ACTIVE + " connected queue pairs, no others", "1/s", alone);
    report.add(with);
    report.add(without);
    report.add(
        new Row(
            "WRITE 4 KiB over 100 queue pairs, with 900 idle ones against without",
            with.over("writes with idle queue pairs to without", without), Aim.atLeast(0.9)));
  }

  private static void add(Report report, String title, double... rates) {
    Series series = new Series(title, "1/s", rates);
    report.add(series);
    report.add(new Row(title, series, Aim.NONE));
  }

  private static double[] twoProcesses(int rounds, double seconds) {
    List<String> command =
        List.of(
            ProcessHandle.current().info().command().orElse("java"), "-XX:+UseSerialGC",
            "--enable-native-access=ALL-UNNAMED", "-cp", System.getProperty("java.class.path"),
            CmServer.class.getName(), RIGHT.toString());
    double[] rates = new double[rounds];
    try {
      Process server = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
      int port = Integer.parseInt(server.inputReader().readLine());
      try (Connections client = new Connections(new CmEnd("rxe0", LEFT), RIGHT.toInetAddress(), port)) {
        client.rate(AT_ONCE, Math.max(seconds, 1));
        for (int round = 0; round < rounds; round++) {
          rates[round] = client.rate(AT_ONCE, seconds);
        }
      } finally {
        server.outputWriter().close();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return rates;
  }

  /** Makes and ends connections, some at a time; how many a second. */
  private double rate(int atOnce, double seconds) {
    keeps = false;
    goesOn = true;
    ended = new CountDownLatch(atOnce);
    long before = made.get();
    long start = System.nanoTime();
    for (int i = 0; i < atOnce; i++) {
      begin();
    }
    await(seconds);
    goesOn = false;
    double rate = (made.get() - before) / ((System.nanoTime() - start) / 1e9);
    awaitEnded();
    return rate;
  }

  private void await(double seconds) {
    CountDownLatch never = new CountDownLatch(1);
    try {
      if (never.await((long) (seconds * 1e9), TimeUnit.NANOSECONDS)) {
        throw new AssertionError("nobody counts down");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void awaitEnded() {
    try {
      ended.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    if (failure != null) {
      throw new IllegalStateException(failure);
    }
  }

  private void begin() {
    RdmaCmId id = end.manager.createId(channel, PortSpace.TCP, null);
    id.resolveAddress(new InetSocketAddress(end.address, 0), peer, SOON);
  }

  private void onEvent(RdmaCmEvent event) {
    try {
      step(event.id(), event);
    } catch (RuntimeException e) {
      fail(e);
    }
  }

  private void fail(Throwable why) {
    failure = why;
    goesOn = false;
    while (ended.getCount() > 0) {
      ended.countDown();
    }
  }

  private void step(RdmaCmId id, RdmaCmEvent event) {
    switch (event.type()) {
      case ADDR_RESOLVED -> id.resolveRoute(SOON);
      case ROUTE_RESOLVED -> {
        id.createQp(null, CmServer.attributes(queue));
        id.connect(null);
      }
      case ESTABLISHED -> {
        if (keeps) {
          ByteBuffer where = ByteBuffer.wrap(event.privateData());
          synchronized (connected) {
            connected.add(new Connected(id, where.getLong(), where.getInt()));
          }
          ended.countDown();
        } else {
          id.disconnect();
        }
      }
      case DISCONNECTED -> {
        id.close();
        made.incrementAndGet();
        if (goesOn) {
          begin();
        } else {
          ended.countDown();
        }
      }
      case TIMEWAIT_EXIT -> {
        // Nothing is left to do.
      }
      default -> fail(new IllegalStateException(event.toString()));
    }
  }

  /** Makes connections that stay. */
  private void connect(int count) {
    keeps = true;
    for (int left = count; left > 0; left -= AT_ONCE) {
      int now = Math.min(left, AT_ONCE);
      ended = new CountDownLatch(now);
      for (int i = 0; i < now; i++) {
        begin();
      }
      awaitEnded();
    }
  }

  private void disconnect() {
    for (Connected each : connected) {
      ended = new CountDownLatch(1);
      each.id().disconnect();
      awaitEnded();
    }
    connected.clear();
  }

  /** Keeps the queues of some connections full; how many writes complete a second. */
  private double writes(double seconds) {
    try (Arena arena = Arena.ofShared();
        MemoryRegion region = holder.domain().registerMemory(arena.allocate(CmServer.BYTES, CmServer.BYTES))) {
      SendWorkRequest[] requests = new SendWorkRequest[ACTIVE];
      for (int i = 0; i < ACTIVE; i++) {
        Connected to = connected.get(i);
        requests[i] =
            new SendWorkRequest()
                .wrId(i)
                .opcode(WrOpcode.RDMA_WRITE)
                .flags(SendFlag.SIGNALED)
                .addSge(region.address(), CmServer.BYTES, region.lkey())
                .remoteAddress(to.address())
                .rkey(to.rkey());
        for (int j = 0; j < CmServer.DEPTH / 2; j++) {
          to.id().qp().postSend(requests[i]);
        }
      }
      return drive(requests, (long) (seconds * 1e9));
    }
  }

  private double drive(SendWorkRequest[] requests, long nanos) {
    WorkCompletion[] batch = WorkCompletion.batch(64);
    long outstanding = (long) ACTIVE * CmServer.DEPTH / 2;
    long done = 0;
    long start = System.nanoTime();
    long stop = start + nanos;
    long now = start;
    long counted = 0;
    while (outstanding > 0) {
      int found = queue.poll(batch);
      now = System.nanoTime();
      for (int i = 0; i < found; i++) {
        if (batch[i].status() != WcStatus.SUCCESS) {
          throw new IllegalStateException(batch[i].toString());
        }
        done++;
        outstanding--;
        if (now < stop) {
          int which = (int) batch[i].wrId();
          connected.get(which).id().qp().postSend(requests[which]);
          outstanding++;
          counted = done;
        }
      }
    }
    return counted / (nanos / 1e9);
  }

  @Override
  public void close() {
    channel.close();
    queue.close();
    end.close();
  }
}
