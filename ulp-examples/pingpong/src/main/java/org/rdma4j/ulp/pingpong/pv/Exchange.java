package org.rdma4j.ulp.pingpong.pv;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The TCP connection on which both sides tell each other what they need to know: one flat JSON object a line. */
final class Exchange implements AutoCloseable {
  private static final Pattern FIELD = Pattern.compile("\"(\\w+)\"\\s*:\\s*(?:\"([^\"]*)\"|(-?\\d+))");
  private static final Duration PAUSE = Duration.ofMillis(50);

  private final Socket socket;
  private final BufferedReader in;

  private Exchange(Socket socket, Duration patience) throws IOException {
    this.socket = socket;
    socket.setTcpNoDelay(true);
    socket.setSoTimeout(Math.toIntExact(2 * patience.toMillis()));
    in = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
  }

  /** Waits for the active side to connect. */
  static Exchange accept(int port, Duration patience) throws IOException {
    try (ServerSocket listener = new ServerSocket()) {
      listener.setReuseAddress(true);
      listener.bind(new InetSocketAddress(port));
      listener.setSoTimeout(Math.toIntExact(patience.toMillis()));
      return new Exchange(listener.accept(), patience);
    } catch (SocketTimeoutException e) {
      throw new ScenarioFailed("nobody connected within " + patience.toSeconds() + " s");
    }
  }

  /** Connects to the passive side, again and again until it listens. */
  static Exchange connect(String host, int port, Duration patience) throws IOException {
    long end = System.nanoTime() + patience.toNanos();
    while (true) {
      try {
        return new Exchange(new Socket(host, port), patience);
      } catch (IOException e) {
        if (System.nanoTime() - end > 0) {
          throw new ScenarioFailed("no server: " + e.getMessage());
        }
        LockSupport.parkNanos(PAUSE.toNanos());
      }
    }
  }

  /** Sends an object whose values are numbers and texts without quotes in them. */
  void tell(Map<String, ?> fields) throws IOException {
    StringBuilder text = new StringBuilder("{");
    fields.forEach(
        (name, value) -> {
          text.append(text.length() > 1 ? ", " : "").append('"').append(name).append("\": ");
          text.append(value instanceof Number ? value : "\"" + value + "\"");
        });
    socket.getOutputStream().write(text.append("}\n").toString().getBytes(StandardCharsets.UTF_8));
  }

  /** Receives an object; numbers stay text. */
  Map<String, String> hear() throws IOException {
    String line;
    try {
      line = in.readLine();
    } catch (SocketTimeoutException e) {
      throw new ScenarioFailed("the other side is silent");
    }
    if (line == null) {
      throw new ScenarioFailed("the other side has gone");
    }
    Map<String, String> fields = new HashMap<>();
    for (Matcher field = FIELD.matcher(line); field.find(); ) {
      fields.put(field.group(1), field.group(2) == null ? field.group(3) : field.group(2));
    }
    return fields;
  }

  /** Waits until the other side, or the way to it, has gone. */
  void awaitEnd() {
    try {
      in.readLine();
    } catch (IOException e) {
      // just that
    }
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
