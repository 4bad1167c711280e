package org.rdma4j.benchmarks.speed;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.util.function.BooleanSupplier;
import org.rdma4j.roce.address.Gid;

/**
 * Datagrams of 4096 bytes through plain NIO, one call for each on both sides, without ICRC or anything else. The
 * receiver reports what it has had, which keeps the sender in step.
 */
final class NioStream implements Workload {
  private static final int PAYLOAD = 4096;

  private final DatagramChannel channel;
  private final ByteBuffer data = ByteBuffer.allocateDirect(PAYLOAD);
  private final ByteBuffer report = ByteBuffer.allocateDirect(Long.BYTES);
  private final Window window;
  private long had;
  private Service service;

  NioStream(Gid local, Gid remote, int windowPackets) {
    channel = NioSockets.open(local, remote, false);
    window = new Window(windowPackets);
  }

  @Override
  public void serve(int seed) {
    service = new Service(this::receive);
  }

  private void receive(BooleanSupplier goesOn) throws IOException {
    int polls = 0;
    while (goesOn.getAsBoolean()) {
      if (channel.read(data.clear()) == 0) {
        Service.pause(++polls);
      } else if (++had % Window.REPORT_EVERY == 0) {
        report();
      }
    }
    report();
  }

  private void report() throws IOException {
    report.clear().putLong(had);
    channel.write(report.flip());
  }

  @Override
  public Settings finish() {
    service.stop();
    return new Settings();
  }

  @Override
  public Settings run(long nanos, int seed) {
    try {
      return send(nanos);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Settings send(long nanos) throws IOException {
    long start = System.nanoTime();
    window.start(start);
    long before = window.arrived();
    long lostBefore = window.lost();
    int polls = 0;
    for (long now = start; now - start < nanos; now = System.nanoTime()) {
      if (window.hasRoom(1, now)) {
        window.sent(channel.write(data.clear()) > 0 ? 1 : 0);
      } else if (!takeReport()) {
        Service.pause(++polls);
      }
    }
    while (takeReport()) {
      polls = 0;
    }
    long elapsed = System.nanoTime() - start;
    long messages = window.arrived() - before;
    return new Settings()
        .with(NANOS, elapsed)
        .with(MESSAGES, messages)
        .with(BYTES, messages * PAYLOAD)
        .with(REPEATED, window.lost() - lostBefore);
  }

  private boolean takeReport() throws IOException {
    if (channel.read(report.clear()) < Long.BYTES) {
      return false;
    }
    window.arrived(report.getLong(0), System.nanoTime());
    return true;
  }

  @Override
  public void close() {
    NioSockets.close(channel);
  }
}
