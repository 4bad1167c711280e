package org.rdma4j.it.peer;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A Linux guest with the kernel's {@code rdma_rxe} in a network namespace of its own, made by the scripts in {@code
 * linux-peer}. This side of the link is {@link #HERE}, with whatever {@link #here} runs; the guest is {@link #GUEST}.
 */
final class LinuxPeer implements AutoCloseable {
  static final String HERE = "192.0.2.1";
  static final String GUEST = "192.0.2.2";

  /** The guest's device. */
  static final String DEVICE = "rxe0";

  private static final Duration BOOT = Duration.ofSeconds(120);
  private static final Duration SHORT = Duration.ofSeconds(60);
  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  private final Path scripts;
  private final Path logs;
  private final String namespace;
  private final long namespacePid;

  private LinuxPeer(Path scripts, Path logs, String namespace) {
    this.scripts = scripts;
    this.logs = logs;
    this.namespace = namespace;
    String pids = command("pids", List.of("ip", "netns", "pids", namespace)).await(SHORT).ok().output();
    namespacePid = pids.lines().mapToLong(line -> Long.parseLong(line.strip())).findFirst().orElseThrow();
  }

  /**
   * Makes the guest.
   *
   * @param install whether packages may be installed on this machine
   */
  static void build(Path scripts, Path logs, boolean install) {
    List<String> command = new ArrayList<>(List.of(scripts.resolve("build").toString()));
    if (!install) {
      command.add("--no-install");
    }
    Running.start("build", logs, Map.of(), command).await(Duration.ofMinutes(10)).ok();
  }

  /** Boots the guest in a namespace that no other run on this machine uses. */
  static LinuxPeer boot(Path scripts, Path logs) {
    String namespace = "rdma4j-it-" + ProcessHandle.current().pid();
    List<String> up = List.of(scripts.resolve("up").toString(), "--netns", namespace);
    Running.start("up", logs, Map.of(), up).await(BOOT).ok();
    return new LinuxPeer(scripts, logs, namespace);
  }

  /** Runs a shell command in the guest, with a bound of a minute. */
  Running.Result exec(String shell) {
    return start(shell, SHORT).await(SHORT.multipliedBy(2));
  }

  /** Starts a shell command in the guest, where it is ended after {@code limit}. */
  Running start(String shell, Duration limit) {
    return script("exec", "--timeout", Long.toString(limit.toSeconds()), "--", "sh", "-c", shell);
  }

  /** Copies a file into the guest. */
  void copyIn(Path source, String target) {
    List<String> command =
        List.of(scripts.resolve("exec").toString(), "--netns", namespace, "--stdin", "cat >" + target);
    Running.start("copy", logs, Map.of(), command, source).await(SHORT).ok();
  }

  /** Waits until something in the guest listens on each of the TCP ports. */
  void awaitListening(Set<Integer> ports, Running servers) {
    Set<Integer> missing = new HashSet<>(ports);
    for (int attempt = 0; attempt < 200; attempt++) {
      missing.removeAll(ListeningPorts.parse(exec("cat /proc/net/tcp /proc/net/tcp6").ok().output()));
      if (missing.isEmpty()) {
        return;
      }
      if (!servers.isAlive()) {
        break;
      }
    }
    throw new PeerException("nobody in the guest listens on " + missing + ":\n" + servers.output());
  }

  /** Waits until something on this side of the link listens on the TCP port. */
  void awaitListeningHere(int port, Running server, Duration limit) {
    long end = System.nanoTime() + limit.toNanos();
    while (!ListeningPorts.ofProcess(namespacePid).contains(port)) {
      if (!server.isAlive()) {
        throw new PeerException("ended before it listened on port " + port + ":\n" + server.output());
      }
      if (System.nanoTime() - end > 0) {
        throw new PeerException("does not listen on port " + port + " after " + limit + ":\n" + server.output());
      }
      LockSupport.parkNanos(PAUSE_NANOS);
    }
  }

  /** Starts a command of this machine on this side of the link. */
  Running here(String name, Map<String, String> environment, List<String> command) {
    List<String> all = new ArrayList<>(List.of("ip", "netns", "exec", namespace));
    all.addAll(command);
    return Running.start(name, logs, environment, all);
  }

  /** Disturbs the guest's link in both directions, as {@code netem} does it ({@code "loss", "2%"}), until closed. */
  Disturbance disturb(String... netem) {
    script("netem", netem).await(SHORT).ok();
    return () -> script("netem", "off").await(SHORT).ok();
  }

  /**
   * Loses messages of connection management on the guest's link, in both directions.
   *
   * @param words kinds of messages, of each of which every other is lost; {@code --all} before them for all; or off
   */
  void lose(String words) {
    script("lose", words.split(" ")).await(SHORT).ok();
  }

  /** Captures the first {@code packets} RoCE packets of the guest's link until closed. */
  LinkCapture capture(String name, int packets) {
    Path file = logs.resolve(name + ".pcap");
    Running capture = script("capture", file.toString(), "--count", Integer.toString(packets));
    return new LinkCapture(this, capture, file);
  }

  /** Starts one of the harness's scripts that knows no namespace. */
  Running tool(String name, String... arguments) {
    List<String> command = new ArrayList<>(List.of(scripts.resolve(name).toString()));
    command.addAll(List.of(arguments));
    return command(name, command);
  }

  Path scripts() {
    return scripts;
  }

  /** Ends the guest and removes the namespace. */
  @Override
  public void close() {
    script("down").await(SHORT).ok();
  }

  private Running script(String name, String... arguments) {
    List<String> command = new ArrayList<>(List.of(scripts.resolve(name).toString(), "--netns", namespace));
    command.addAll(List.of(arguments));
    return command(name, command);
  }

  private Running command(String name, List<String> command) {
    return Running.start(name, logs, Map.of(), command);
  }

  /** A link that is being disturbed. */
  interface Disturbance extends AutoCloseable {
    @Override
    void close();
  }
}
