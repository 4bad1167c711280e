package org.rdma4j.benchmarks;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.rdma4j.benchmarks.report.Report;
import org.rdma4j.benchmarks.report.Series;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.link.Clock;
import org.rdma4j.roce.link.Fabric;
import org.rdma4j.roce.link.Link;
import org.rdma4j.roce.link.LinkCounter;
import org.rdma4j.roce.link.NioUdpLink;
import org.rdma4j.roce.link.Route;
import org.rdma4j.roce.link.UdpLink;
import org.rdma4j.roce.link.UdpLinkConfig;

/**
 * Measures the bare links, without a transport: throughput of packets with 4096 bytes of payload from one thread to
 * another, and the round trip of 64 bytes. Prints one JSON document in the format of {@link Report}.
 *
 * <p>Argument: seconds of each measurement, 2 if absent; as many pass before it as warm-up.
 */
public final class LinkBenchmark {
  private static final Gid SENDER = Gid.parse("::ffff:127.77.0.2");
  private static final Gid RECEIVER = Gid.parse("::ffff:127.77.0.3");
  private static final int PAYLOAD = 4096;
  private static final int PACKET = 12 + PAYLOAD;
  private static final int SMALL = 64;

  /** Packets that may be on the way: little enough that no socket buffer overflows. */
  private static final int WINDOW = 512;

  private static final int RECEIVE_LIMIT = 128;

  private final long durationNanos;
  private final Report report = new Report("link");

  private LinkBenchmark(int seconds) {
    durationNanos = TimeUnit.SECONDS.toNanos(seconds);
  }

  /**
   * Runs all measurements.
   *
   * @param args seconds of each
   * @throws InterruptedException when interrupted
   */
  public static void main(String[] args) throws InterruptedException {
    int seconds = args.length > 0 ? Integer.parseInt(args[0]) : 2;
    System.out.print(new LinkBenchmark(seconds).run().toJson());
  }

  private Report run() throws InterruptedException {
    UdpLinkConfig offloads = UdpLinkConfig.DEFAULT;
    UdpLinkConfig plain = offloads.withOffloads(false, false);
    report.about("seconds", Long.toString(TimeUnit.NANOSECONDS.toSeconds(durationNanos)));
    throughput("udp, segmentation and coalescing", () -> new UdpLink(offloads), 15);
    throughput("udp, segmentation and coalescing, 60 packets a flush", () -> new UdpLink(offloads), 60);
    throughput("udp, one datagram a packet, 60 packets a flush", () -> new UdpLink(plain), 60);
    throughput("udp, one datagram a packet and call", () -> new UdpLink(plain), 1);
    throughput("nio, one datagram a packet and call", () -> new NioUdpLink(plain), 15);
    Fabric fabric = new Fabric(1, Clock.SYSTEM);
    throughput("fabric", fabric::endpoint, 15);
    for (boolean wait : new boolean[] {false, true}) {
      String how = wait ? ", waiting" : ", polling";
      roundTrip("udp" + how, () -> new UdpLink(offloads), wait);
      roundTrip("nio" + how, () -> new NioUdpLink(plain), wait);
    }
    return report;
  }

  private void throughput(String name, Supplier<Link> opener, int burst) throws InterruptedException {
    try (Link sender = opener.get();
        Link receiver = opener.get()) {
      sender.addAddress(SENDER);
      receiver.addAddress(RECEIVER);
      AtomicBoolean stop = new AtomicBoolean();
      Thread receiving =
          Thread.ofPlatform()
              .start(
                  () -> {
                    while (!stop.get()) {
                      if (receiver.receive(packet -> {}, RECEIVE_LIMIT) == 0) {
                        receiver.await(TimeUnit.MILLISECONDS.toNanos(10));
                      }
                    }
                  });
      send(sender, receiver, burst);
      long before = receiver.counters().get(LinkCounter.PACKETS_RECEIVED);
      long calls = sender.counters().get(LinkCounter.SEND_CALLS);
      long start = System.nanoTime();
      send(sender, receiver, burst);
      long nanos = System.nanoTime() - start;
      long packets = receiver.counters().get(LinkCounter.PACKETS_RECEIVED) - before;
      calls = sender.counters().get(LinkCounter.SEND_CALLS) - calls;
      stop.set(true);
      receiving.join();
      report.add(new Series(name + ", throughput", "GB/s", (double) packets * PAYLOAD / nanos));
      report.add(new Series(name + ", packets a send call", "packets", (double) packets / Math.max(1, calls)));
    }
  }

  /** Sends for the duration, never more than the window ahead of the receiver; a loss ends the waiting for it. */
  private void send(Link sender, Link receiver, int burst) {
    Route route = sender.route(SENDER, RECEIVER, 0, 0, 64);
    long sent = 0;
    long received = receiver.counters().get(LinkCounter.PACKETS_RECEIVED);
    long lost = 0;
    long end = System.nanoTime() + durationNanos;
    long progress = System.nanoTime();
    long seen = 0;
    for (long now = progress; now < end; now = System.nanoTime()) {
      long arrived = receiver.counters().get(LinkCounter.PACKETS_RECEIVED) - received;
      if (arrived != seen) {
        seen = arrived;
        progress = now;
      } else if (now - progress > TimeUnit.MILLISECONDS.toNanos(50)) {
        lost = sent - arrived;
        progress = now;
      }
      if (sent - arrived - lost <= WINDOW - burst) {
        for (int i = 0; i < burst && sender.claim(route, PACKET) >= 0; i++) {
          sender.commit();
        }
        sent += sender.flush();
      } else {
        Thread.onSpinWait();
      }
    }
  }

  private void roundTrip(String name, Supplier<Link> opener, boolean wait) throws InterruptedException {
    try (Link one = opener.get();
        Link other = opener.get()) {
      one.addAddress(SENDER);
      other.addAddress(RECEIVER);
      AtomicBoolean stop = new AtomicBoolean();
      Thread echo =
          Thread.ofPlatform()
              .start(
                  () -> {
                    Route back = other.route(RECEIVER, SENDER, 0, 0, 64);
                    while (!stop.get()) {
                      if (other.receive(packet -> sendOne(other, back), 1) == 0 && wait) {
                        other.await(TimeUnit.MILLISECONDS.toNanos(10));
                      }
                    }
                  });
      Route route = one.route(SENDER, RECEIVER, 0, 0, 64);
      pings(one, route, wait);
      long[] times = pings(one, route, wait);
      stop.set(true);
      echo.join();
      Arrays.sort(times);
      report.add(new Series(name + ", p50", "µs", times[times.length / 2] / 1e3));
      report.add(new Series(name + ", p99", "µs", times[(int) (times.length * 0.99)] / 1e3));
    }
  }

  private long[] pings(Link link, Route route, boolean wait) {
    long[] times = new long[1 << 20];
    int count = 0;
    long end = System.nanoTime() + durationNanos;
    long start = System.nanoTime();
    while (start < end && count < times.length) {
      sendOne(link, route);
      while (link.receive(packet -> {}, 1) == 0) {
        if (wait) {
          link.await(TimeUnit.MILLISECONDS.toNanos(10));
        }
      }
      long now = System.nanoTime();
      times[count++] = now - start;
      start = now;
    }
    return Arrays.copyOf(times, count);
  }

  private static void sendOne(Link link, Route route) {
    link.claim(route, SMALL);
    link.commit();
    link.flush();
  }
}
