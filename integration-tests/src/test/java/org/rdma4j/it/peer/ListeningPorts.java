package org.rdma4j.it.peer;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.stream.Collectors;

/** The TCP ports on which something listens, from the text of {@code /proc/net/tcp} and {@code tcp6}. */
final class ListeningPorts {
  private static final String LISTEN = "0A";

  private ListeningPorts() {}

  /** Those in the network namespace of a process of this machine. */
  static Set<Integer> ofProcess(long pid) {
    Path directory = Path.of("/proc", Long.toString(pid), "net");
    try {
      return parse(Files.readString(directory.resolve("tcp")) + Files.readString(directory.resolve("tcp6")));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Columns of a line: number, local address {@code HEX:PORT}, remote address, state, … */
  static Set<Integer> parse(String text) {
    return text.lines()
        .map(line -> line.strip().split("\\s+"))
        .filter(columns -> columns.length > 3 && columns[3].equals(LISTEN))
        .map(columns -> Integer.valueOf(columns[1].substring(columns[1].lastIndexOf(':') + 1), 16))
        .collect(Collectors.toSet());
  }
}
