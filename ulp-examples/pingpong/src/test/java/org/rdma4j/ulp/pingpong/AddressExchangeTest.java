package org.rdma4j.ulp.pingpong;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.ulp.command.CommandException;

/** The exchange byte for byte, with itself and with a hand-made other side. */
@Timeout(30)
class AddressExchangeTest {
  private static final Destination ONE = new Destination(0, 0x37, 0xf17ad0, Gid.parse("::ffff:192.0.2.2"));
  private static final Destination TWO = new Destination(0, 0x3a, 0x26319c, Gid.parse("::ffff:192.0.2.3"));
  private static final String ONE_WIRE = "0000:000037:f17ad0:00000000000000000000ffffc0000202\0";
  private static final String TWO_WIRE = "0000:00003a:26319c:00000000000000000000ffffc0000203\0";

  @Test
  void anAddressHas52Bytes() {
    ByteBuffer buffer = ByteBuffer.allocate(100);
    ONE.writeTo(buffer);
    assertEquals(Destination.LENGTH, buffer.position());
    assertEquals(ONE_WIRE, new String(buffer.array(), 0, 52, StandardCharsets.US_ASCII));
    assertEquals(ONE, Destination.readFrom(buffer.flip()));
    assertEquals(
        "LID 0x0000, QPN 0x000037, PSN 0xf17ad0, GID ::ffff:192.0.2.2", ONE.text(","));
    for (String bad : List.of("", "0:0:0:0", "x" + ONE_WIRE.substring(1), ONE_WIRE.replace(':', ' '))) {
      byte[] bytes = java.util.Arrays.copyOf(bad.getBytes(StandardCharsets.US_ASCII), 52);
      assertThrows(IllegalArgumentException.class, () -> Destination.readFrom(ByteBuffer.wrap(bytes)), bad);
    }
  }

  @Test
  void clientSpeaksFirstAndConfirms() throws Exception {
    try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      FutureTask<List<Destination>> client =
          start(() -> new AddressExchange(server.getLocalPort(), List.of(TWO)).asClient("localhost"));
      try (Socket socket = server.accept()) {
        assertEquals(TWO_WIRE, read(socket, 52));
        socket.getOutputStream().write(ONE_WIRE.getBytes(StandardCharsets.US_ASCII));
        assertEquals("done\0", read(socket, 5));
        assertEquals(-1, socket.getInputStream().read());
      }
      assertEquals(List.of(ONE), client.get());
    }
  }

  @Test
  void serverConnectsBeforeItAnswers() throws Exception {
    int port = freePort();
    AtomicReference<List<Destination>> connected = new AtomicReference<>();
    FutureTask<List<Destination>> server =
        start(() -> new AddressExchange(port, List.of(ONE)).asServer(connected::set));
    try (Socket socket = connect("127.0.0.1", port)) {
      socket.getOutputStream().write(TWO_WIRE.getBytes(StandardCharsets.US_ASCII));
      assertEquals(ONE_WIRE, read(socket, 52));
      assertEquals(List.of(TWO), connected.get());
      socket.getOutputStream().write("done\0".getBytes(StandardCharsets.US_ASCII));
    }
    assertEquals(List.of(TWO), server.get());
  }

  @Test
  void bothSidesOverIpv6WithManyAddresses() throws Exception {
    int port = freePort();
    List<Destination> ones = Collections.nCopies(256, ONE);
    List<Destination> twos = Collections.nCopies(256, TWO);
    FutureTask<List<Destination>> client = start(() -> new AddressExchange(port, twos).asClient("::1"));
    // The client waits for a server that is late.
    FutureTask<List<Destination>> server = start(() -> new AddressExchange(port, ones).asServer(found -> {}));
    assertEquals(ones, client.get());
    assertEquals(twos, server.get());
  }

  @Test
  void failuresAreNamed() throws Exception {
    int port = freePort();
    FutureTask<List<Destination>> server =
        start(() -> new AddressExchange(port, List.of(ONE)).asServer(found -> {}));
    connect("127.0.0.1", port).close();
    assertEquals("0/52: Couldn't read remote address", failure(server));
    FutureTask<List<Destination>> garbled =
        start(() -> new AddressExchange(port, List.of(ONE)).asServer(found -> {}));
    try (Socket socket = connect("127.0.0.1", port)) {
      socket.getOutputStream().write(new byte[52]);
      assertTrue(failure(garbled).startsWith("Couldn't read remote address: not an address"));
    }
    try (ServerSocket taken = new ServerSocket(0)) {
      int takenPort = taken.getLocalPort();
      String message =
          assertThrows(
                  CommandException.class, () -> new AddressExchange(takenPort, List.of(ONE)).asServer(found -> {}))
              .getMessage();
      assertTrue(message.startsWith("Couldn't listen to port " + takenPort), message);
    }
  }

  @Test
  void aWaitingServerCanBeInterrupted() throws Exception {
    int port = freePort();
    AtomicReference<Exception> end = new AtomicReference<>();
    Thread server =
        Thread.ofPlatform()
            .start(
                () -> {
                  try {
                    new AddressExchange(port, List.of(ONE)).asServer(found -> {});
                  } catch (CommandException | InterruptedException e) {
                    end.set(e);
                  }
                });
    server.interrupt();
    server.join();
    assertEquals(InterruptedException.class, end.get().getClass());
  }

  private static String failure(FutureTask<?> task) {
    return assertThrows(ExecutionException.class, task::get).getCause().getMessage();
  }

  private static <T> FutureTask<T> start(Callable<T> work) {
    FutureTask<T> task = new FutureTask<>(work);
    Thread.ofPlatform().daemon().start(task);
    return task;
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }

  /** Connects as soon as the other side listens. */
  private static Socket connect(String host, int port) throws Exception {
    while (true) {
      try {
        return new Socket(host, port);
      } catch (java.net.ConnectException e) {
        Thread.onSpinWait();
      }
    }
  }

  private static String read(Socket socket, int length) throws IOException {
    return new String(socket.getInputStream().readNBytes(length), StandardCharsets.US_ASCII);
  }
}
