package org.rdma4j.rdma.cm.internal.cma;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Which ports this host gives to who asks for any, and whether the process may have those below 1024.
 *
 * @param first lowest port of those given
 * @param last highest
 * @param mayHavePrivileged whether it has {@code CAP_NET_BIND_SERVICE}
 */
record LocalPorts(int first, int last, boolean mayHavePrivileged) {
  private static final Path RANGE = Path.of("/proc/sys/net/ipv4/ip_local_port_range");
  private static final Path STATUS = Path.of("/proc/self/status");
  private static final String EFFECTIVE = "CapEff:";
  private static final int BIND_SERVICE = 10; // bit of CAP_NET_BIND_SERVICE
  private static final LocalPorts USUAL = new LocalPorts(32768, 60999, true);

  /** As the system says; where it says nothing, the values that Linux has by default. */
  static LocalPorts ofSystem() {
    int low = USUAL.first;
    int high = USUAL.last;
    boolean privileged = USUAL.mayHavePrivileged;
    try {
      String[] range = Files.readString(RANGE).trim().split("\\s+");
      low = Integer.parseInt(range[0]);
      high = Integer.parseInt(range[1]);
      privileged = mayBind(Files.readAllLines(STATUS));
    } catch (IOException | RuntimeException e) {
      return USUAL;
    }
    return new LocalPorts(low, high, privileged);
  }

  private static boolean mayBind(List<String> status) {
    return status.stream()
        .filter(line -> line.startsWith(EFFECTIVE))
        .map(line -> Long.parseUnsignedLong(line.substring(EFFECTIVE.length()).trim(), 16))
        .allMatch(effective -> (effective >>> BIND_SERVICE & 1) != 0);
  }
}
