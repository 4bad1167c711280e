package org.rdma4j.benchmarks.speed;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.util.function.BooleanSupplier;
import org.rdma4j.roce.address.Gid;

/** Datagrams of 64 bytes back and forth through plain NIO; both sides poll, or both sleep in the read. */
final class NioRoundTrip implements Workload {
  /** Tells the side that sleeps in its read that the slice is over. */
  private static final long END = -1;

  private final DatagramChannel channel;
  private final boolean sleeps;
  private final ByteBuffer buffer = ByteBuffer.allocateDirect(RdmaRoundTrip.SIZE);
  private final RoundTrips times = new RoundTrips();
  private Service service;

  NioRoundTrip(Gid local, Gid remote, boolean sleeps) {
    this.sleeps = sleeps;
    channel = NioSockets.open(local, remote, sleeps);
  }

  @Override
  public void serve(int seed) {
    service = new Service(this::echo);
  }

  private void echo(BooleanSupplier goesOn) throws IOException {
    // Who sleeps goes on until the end is announced, which must not be left for the next slice.
    while (receive(sleeps ? () -> true : goesOn)) {
      channel.write(buffer.flip());
    }
  }

  private boolean receive(BooleanSupplier goesOn) throws IOException {
    int polls = 0;
    while (goesOn.getAsBoolean()) {
      if (channel.read(buffer.clear()) > 0) {
        return buffer.getLong(0) != END;
      }
      Service.pause(++polls);
    }
    return false;
  }

  @Override
  public Settings finish() {
    service.stop();
    return new Settings();
  }

  @Override
  public Settings run(long nanos, int seed) {
    try {
      return pings(nanos, seed);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Settings pings(long nanos, int seed) throws IOException {
    times.clear();
    long number = (long) seed << 32;
    long start = System.nanoTime();
    long stop = start + nanos;
    boolean more = true;
    while (more && start < stop) {
      buffer.clear().putLong(0, ++number);
      channel.write(buffer);
      receive(() -> true);
      if (buffer.getLong(0) != number) {
        throw new IllegalStateException("message " + buffer.getLong(0) + " came back where " + number + " was due");
      }
      long now = System.nanoTime();
      more = times.add(now - start);
      start = now;
    }
    if (sleeps) {
      buffer.clear().putLong(0, END);
      channel.write(buffer);
    }
    return times.result();
  }

  @Override
  public void close() {
    NioSockets.close(channel);
  }
}
