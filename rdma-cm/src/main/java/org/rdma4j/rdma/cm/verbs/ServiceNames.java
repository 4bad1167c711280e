package org.rdma4j.rdma.cm.verbs;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/** Names of ports, as {@code /etc/services} has them ({@code services(5)}). Read each time: it may change. */
final class ServiceNames {
  private static final int MOST = 0xffff;

  private final Path file;

  ServiceNames(Path file) {
    this.file = file;
  }

  /** The port that a decimal number says, or -1 for anything else. */
  static int number(String text) {
    try {
      int port = Integer.parseInt(text.strip());
      return port >= 0 && port <= MOST ? port : -1;
    } catch (NumberFormatException e) {
      return -1;
    }
  }

  /** The port of a service by its name or one of its aliases, or -1. */
  int port(String name, String protocol) {
    try {
      for (String line : Files.readAllLines(file, StandardCharsets.ISO_8859_1)) {
        String[] words = line.replaceFirst("#.*", "").strip().split("\\s+");
        if (words.length >= 2 && words[1].endsWith("/" + protocol) && names(words).contains(name)) {
          return number(words[1].substring(0, words[1].indexOf('/')));
        }
      }
    } catch (IOException e) {
      return -1; // a system without the file knows no names
    }
    return -1;
  }

  private static List<String> names(String[] words) {
    String[] names = words.clone();
    names[1] = names[0];
    return Arrays.asList(names);
  }
}
