package org.rdma4j.benchmarks.speed;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.DatagramChannel;
import org.rdma4j.roce.address.Gid;

/** Plain datagram sockets of Java, connected, which is the fastest that they come. */
final class NioSockets {
  private static final int PORT = 4791;
  private static final int BUFFER_BYTES = 4 * 1024 * 1024;

  private NioSockets() {}

  static DatagramChannel open(Gid local, Gid remote, boolean blocking) {
    try {
      DatagramChannel channel = DatagramChannel.open();
      channel.setOption(StandardSocketOptions.SO_RCVBUF, BUFFER_BYTES);
      channel.setOption(StandardSocketOptions.SO_SNDBUF, BUFFER_BYTES);
      channel.bind(new InetSocketAddress(local.toInetAddress(), PORT));
      channel.connect(new InetSocketAddress(remote.toInetAddress(), PORT));
      channel.configureBlocking(blocking);
      return channel;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static void close(DatagramChannel channel) {
    try {
      channel.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
