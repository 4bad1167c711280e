package org.rdma4j.ulp.pingpong;

import java.io.EOFException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.rdma4j.ulp.command.CommandException;

/**
 * The exchange of addresses over TCP. The client tells its addresses first; the server gets its queue pairs ready
 * before it answers, so that nothing the client sends can come too early; the client confirms with {@code done}.
 *
 * <p>Other than the original, a client waits a moment for a server that does not listen yet, so that both can be
 * started together.
 */
final class AddressExchange {
  private static final byte[] DONE = "done\0".getBytes(StandardCharsets.US_ASCII);
  private static final long PATIENCE_NANOS = Duration.ofSeconds(3).toNanos();
  private static final long PAUSE_MILLIS = 50;

  private final int port;
  private final List<Destination> mine;

  /** Gets the queue pairs of a server ready for the client's. */
  @FunctionalInterface
  interface Connector {
    void connect(List<Destination> remote) throws CommandException;
  }

  /**
   * Prepares an exchange.
   *
   * @param port the TCP port
   * @param mine the own addresses, as many as the other side sends
   */
  AddressExchange(int port, List<Destination> mine) {
    this.port = port;
    this.mine = mine;
  }

  /** Connects to a server and exchanges addresses. */
  List<Destination> asClient(String host) throws CommandException, InterruptedException {
    try (SocketChannel channel = open(host)) {
      send(channel);
      List<Destination> remote = receive(channel, "Couldn't read/write remote address");
      write(channel, ByteBuffer.wrap(DONE));
      return remote;
    } catch (ClosedByInterruptException e) {
      throw interrupted(e);
    } catch (IOException e) {
      throw new CommandException("Couldn't read/write remote address", e);
    }
  }

  /** Waits for one client, on all addresses of this host, and exchanges addresses. */
  List<Destination> asServer(Connector connector) throws CommandException, InterruptedException {
    try (SocketChannel channel = accept()) {
      List<Destination> remote = receive(channel, "Couldn't read remote address");
      connector.connect(remote);
      send(channel);
      ByteBuffer done = ByteBuffer.allocate(DONE.length);
      readFully(channel, done);
      return remote;
    } catch (ClosedByInterruptException e) {
      throw interrupted(e);
    } catch (IOException e) {
      throw new CommandException("Couldn't send/recv local address", e);
    }
  }

  private SocketChannel accept() throws CommandException, InterruptedException {
    try (ServerSocketChannel server = ServerSocketChannel.open()) {
      server.setOption(StandardSocketOptions.SO_REUSEADDR, true);
      server.bind(new InetSocketAddress(port), 1);
      return server.accept();
    } catch (ClosedByInterruptException e) {
      throw interrupted(e);
    } catch (IOException e) {
      throw new CommandException("Couldn't listen to port " + port, e);
    }
  }

  private SocketChannel open(String host) throws CommandException, InterruptedException {
    InetAddress[] addresses;
    try {
      addresses = InetAddress.getAllByName(host);
    } catch (UnknownHostException e) {
      throw new CommandException("Name or service not known for " + host + ":" + port, 1, e);
    }
    long deadline = System.nanoTime() + PATIENCE_NANOS;
    while (true) {
      boolean refused = false;
      Exception last = null;
      for (InetAddress address : addresses) {
        try {
          return SocketChannel.open(new InetSocketAddress(address, port));
        } catch (ClosedByInterruptException e) {
          throw interrupted(e);
        } catch (ConnectException e) {
          refused = true;
          last = e;
        } catch (IOException e) {
          last = e;
        }
      }
      if (!refused || System.nanoTime() - deadline >= 0) {
        throw new CommandException("Couldn't connect to " + host + ":" + port, last);
      }
      Thread.sleep(PAUSE_MILLIS);
    }
  }

  private void send(SocketChannel channel) throws IOException {
    ByteBuffer buffer = ByteBuffer.allocate(mine.size() * Destination.LENGTH);
    mine.forEach(each -> each.writeTo(buffer));
    write(channel, buffer.flip());
  }

  private List<Destination> receive(SocketChannel channel, String failure) throws IOException, CommandException {
    ByteBuffer buffer = ByteBuffer.allocate(mine.size() * Destination.LENGTH);
    try {
      readFully(channel, buffer);
      buffer.flip();
      List<Destination> remote = new ArrayList<>();
      while (buffer.hasRemaining()) {
        remote.add(Destination.readFrom(buffer));
      }
      return remote;
    } catch (EOFException e) {
      throw new CommandException(
          buffer.position() % Destination.LENGTH + "/" + Destination.LENGTH + ": " + failure, 1, e);
    } catch (IllegalArgumentException e) {
      throw new CommandException(failure, e);
    }
  }

  private static void write(SocketChannel channel, ByteBuffer buffer) throws IOException {
    while (buffer.hasRemaining()) {
      channel.write(buffer);
    }
  }

  private static void readFully(SocketChannel channel, ByteBuffer buffer) throws IOException {
    while (buffer.hasRemaining()) {
      if (channel.read(buffer) < 0) {
        throw new EOFException("the other side has closed the connection");
      }
    }
  }

  private static InterruptedException interrupted(ClosedByInterruptException cause) {
    Thread.interrupted();
    InterruptedException end = new InterruptedException("interrupted in the exchange of addresses");
    end.initCause(cause);
    return end;
  }
}
