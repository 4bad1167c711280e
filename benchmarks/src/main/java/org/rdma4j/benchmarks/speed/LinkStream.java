package org.rdma4j.benchmarks.speed;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.link.Link;
import org.rdma4j.roce.link.LinkCounter;
import org.rdma4j.roce.link.ReceivedPacket;
import org.rdma4j.roce.link.Route;
import org.rdma4j.roce.link.UdpLink;
import org.rdma4j.roce.link.UdpLinkConfig;

/**
 * The same link without a transport: packets with 4096 bytes that nobody writes or reads, in bursts that the kernel
 * takes as one, with ICRC. The receiver reports what it has had, which keeps the sender in step.
 */
final class LinkStream implements Workload {
  private static final int PAYLOAD = 4096;
  private static final int HEADER = 12;
  private static final int REPORT = HEADER + Long.BYTES;

  /** The most that one call takes as one datagram. */
  private static final int BURST = 15;

  private static final int RECEIVE_LIMIT = 256;
  private static final long SPIN_NANOS = 20_000;
  private static final long SLEEP_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

  private final Link link;
  private final Route route;
  private final Window window;
  private long had;
  private long reported;
  private Service service;

  LinkStream(Gid local, Gid remote, int windowPackets) {
    link = new UdpLink(UdpLinkConfig.DEFAULT);
    link.addAddress(local);
    route = link.route(local, remote, 0, 0, 0);
    window = new Window(windowPackets);
  }

  @Override
  public void serve(int seed) {
    service = new Service(this::receive);
  }

  private void receive(BooleanSupplier goesOn) {
    long idleSince = System.nanoTime();
    while (goesOn.getAsBoolean()) {
      if (link.receive(this::onData, RECEIVE_LIMIT) > 0) {
        link.flush();
        idleSince = System.nanoTime();
      } else {
        idle(idleSince);
      }
    }
    report();
    link.flush();
  }

  private void onData(ReceivedPacket packet) {
    if (++had - reported >= Window.REPORT_EVERY) {
      report();
    }
  }

  private void report() {
    reported = had;
    long at = link.claim(route, REPORT);
    if (at >= 0) {
      link.transmitMemory().set(JAVA_LONG_UNALIGNED, at + HEADER, had);
      link.commit();
    }
  }

  private void idle(long idleSince) {
    if (System.nanoTime() - idleSince < SPIN_NANOS) {
      Thread.onSpinWait();
    } else {
      link.await(SLEEP_NANOS);
    }
  }

  @Override
  public Settings finish() {
    service.stop();
    return new Settings();
  }

  @Override
  public Settings run(long nanos, int seed) {
    long start = System.nanoTime();
    window.start(start);
    long before = window.arrived();
    long lostBefore = window.lost();
    long calls = link.counters().get(LinkCounter.SEND_CALLS);
    long packets = link.counters().get(LinkCounter.PACKETS_SENT);
    long idleSince = start;
    for (long now = start; now - start < nanos; now = System.nanoTime()) {
      if (window.hasRoom(BURST, now)) {
        for (int i = 0; i < BURST && link.claim(route, HEADER + PAYLOAD) >= 0; i++) {
          link.commit();
        }
        window.sent(link.flush());
        idleSince = now;
      } else if (link.receive(this::onReport, RECEIVE_LIMIT) == 0) {
        idle(idleSince);
      }
    }
    link.receive(this::onReport, RECEIVE_LIMIT);
    long elapsed = System.nanoTime() - start;
    long messages = window.arrived() - before;
    return new Settings()
        .with(NANOS, elapsed)
        .with(MESSAGES, messages)
        .with(BYTES, messages * PAYLOAD)
        .with(REPEATED, window.lost() - lostBefore)
        .with("sendCalls", link.counters().get(LinkCounter.SEND_CALLS) - calls)
        .with("packetsSent", link.counters().get(LinkCounter.PACKETS_SENT) - packets);
  }

  private void onReport(ReceivedPacket packet) {
    window.arrived(packet.buffer().get(JAVA_LONG_UNALIGNED, packet.offset() + HEADER), System.nanoTime());
  }

  @Override
  public void close() {
    link.close();
  }
}
