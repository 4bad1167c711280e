package org.rdma4j.it.peer;

import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A capture of the guest's link, running until {@link #close}. */
final class LinkCapture implements AutoCloseable {
  private static final Duration LIMIT = Duration.ofSeconds(30);

  private final LinuxPeer peer;
  private final Running capture;
  private final Path file;

  LinkCapture(LinuxPeer peer, Running capture, Path file) {
    this.peer = peer;
    this.capture = capture;
    this.file = file;
    long end = System.nanoTime() + LIMIT.toNanos();
    while (!capture.output().contains("recording")) {
      if (!capture.isAlive() || System.nanoTime() - end > 0) {
        capture.close();
        throw new PeerException("capture does not start:\n" + capture.output());
      }
      LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
    }
  }

  /** Stops recording; packets that were already on the link are in the file. */
  @Override
  public void close() {
    capture.terminate();
    capture.await(LIMIT).ok();
  }

  /** How many packets of a kind, as {@link #check} names it, were recorded until now. */
  long count(String kind) {
    String line = peer.tool("check-capture.py", "--no-tshark", file.toString()).await(LIMIT).output();
    Matcher number = Pattern.compile("(\\d+) " + kind + "(;|$)", Pattern.MULTILINE).matcher(line);
    return number.find() ? Long.parseLong(number.group(1)) : 0;
  }

  /**
   * Checks what was recorded: ICRC and lengths of every packet, and that tshark finds nothing malformed.
   *
   * @return the line that says how many packets of which opcode there were
   */
  String check() {
    return peer.tool("check-capture.py", file.toString()).await(Duration.ofMinutes(3)).ok().output();
  }
}
