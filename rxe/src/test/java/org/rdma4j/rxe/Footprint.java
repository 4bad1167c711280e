package org.rdma4j.rxe;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** What this process holds of the system at one moment, to compare before and after. */
record Footprint(List<String> threads, List<String> sockets) {
  private static final Path DESCRIPTORS = Path.of("/proc/self/fd");
  private static final long WAIT_NANOS = 10_000_000_000L;

  static Footprint now() {
    return new Footprint(deviceThreads(), openSockets());
  }

  private static List<String> deviceThreads() {
    return Thread.getAllStackTraces().keySet().stream()
        .map(Thread::getName)
        .filter(name -> name.startsWith("rxe-") || name.startsWith("ib-"))
        .sorted()
        .toList();
  }

  /** Sockets and event descriptors; files come and go with the class loader. */
  private static List<String> openSockets() {
    try (Stream<Path> all = Files.list(DESCRIPTORS)) {
      return all.map(Footprint::target)
          .filter(name -> name.startsWith("socket:") || name.contains("[eventfd]"))
          .sorted()
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String target(Path descriptor) {
    try {
      return Files.readSymbolicLink(descriptor).toString();
    } catch (IOException e) {
      return "closed";
    }
  }

  /** Fails where something is there that was not there before; ended threads may need a moment to vanish. */
  void assertUnchanged() {
    long deadline = System.nanoTime() + WAIT_NANOS;
    while (!deviceThreads().equals(threads) && System.nanoTime() < deadline) {
      Thread.onSpinWait();
    }
    assertEquals(threads, deviceThreads());
    List<String> now = openSockets();
    assertEquals(sockets, now);
  }
}
