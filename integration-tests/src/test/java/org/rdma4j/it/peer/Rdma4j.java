package org.rdma4j.it.peer;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * rdma4j on this side of the peer's link, as a user starts it: {@code ./rdma --bare SCRIPT}. One container runs many
 * commands, one after the other; {@code rdma dev} between them shows in the output where each begins.
 */
final class Rdma4j {
  private static final String SEPARATOR = "rdma dev";
  private static final Pattern SEPARATOR_OUTPUT = Pattern.compile("(?m)^\\d+: (rxe|mlx5_)0: node_type .*$");
  private static final Pattern WARNING = Pattern.compile("(?m)^[0-9:.]{12} (WARN|ERROR) ");
  private static final Pattern GID = Pattern.compile("GID\\[ *(\\d+)\\]:\\s*([0-9a-f:.]+)");
  private static final Path PROJECT = Path.of("..").toAbsolutePath().normalize();

  private final LinuxPeer peer;
  private final Device device;
  private final Map<Family, Integer> gidIndexes = new EnumMap<>(Family.class);

  Rdma4j(LinuxPeer peer, Device device) {
    this.peer = peer;
    this.device = device;
  }

  /** What this side has. */
  Device device() {
    return device;
  }

  /** Starts a container that makes the device on this side's interface and then runs the commands. */
  Running start(String name, List<String> commands) {
    List<String> script = new ArrayList<>(List.of(SEPARATOR));
    for (String command : commands) {
      script.add(command);
      script.add(SEPARATOR);
    }
    return startScript(name, List.of(), script);
  }

  /** Starts a container that runs a script, makes the device on this side's interface, and runs another script. */
  Running startScript(String name, List<String> before, List<String> commands) {
    Path jar = PROJECT.resolve("cnf/target/rdma.jar");
    if (!Files.exists(jar)) {
      throw new PeerException(jar + " is not built");
    }
    List<String> script = new ArrayList<>(before);
    script.add(device.add());
    script.addAll(commands);
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    List<String> command = List.of(PROJECT.resolve("rdma").toString(), "--bare", String.join("; ", script));
    return peer.here(name, Map.of("RDMA_JAVA", java), command);
  }

  /** The output of each command, in their order; shorter than the commands where the script did not get to its end. */
  static List<String> outputs(String output) {
    List<String> all = List.of(SEPARATOR_OUTPUT.split(output, -1));
    return all.size() < 2 ? List.of() : all.subList(1, all.size() - 1);
  }

  /** Whether the container has logged at WARN or above. */
  static boolean hasWarned(String output) {
    return WARNING.matcher(output).find();
  }

  /** The index of this side's GID of a family, found in {@code ibv_devinfo -v}. */
  synchronized int gidIndex(Family family) {
    if (gidIndexes.isEmpty()) {
      String text = start("devinfo", List.of("ibv_devinfo -v")).await(Duration.ofSeconds(60)).ok().output();
      for (Matcher gid = GID.matcher(text); gid.find(); ) {
        for (Family each : Family.values()) {
          if (gid.group(2).equals(each.gidHere())) {
            gidIndexes.putIfAbsent(each, Integer.valueOf(gid.group(1)));
          }
        }
      }
      if (gidIndexes.size() < Family.values().length) {
        gidIndexes.clear();
        throw new PeerException("not every address has its GID:\n" + text);
      }
    }
    return gidIndexes.get(family);
  }
}
