package org.rdma4j.benchmarks.speed;

/** What the sender of a bare stream has under way; a receiver that stays silent has lost it. */
final class Window {
  /** The receiver reports after this many packets, about as many as a message of 64 KiB has. */
  static final int REPORT_EVERY = 16;

  private static final long SILENCE_NANOS = 200_000_000;

  private final int packets;
  private long sent;
  private long arrived;
  private long lost;
  private long lastNews;

  /** Lets so many packets be under way: as many as a queue pair may have. */
  Window(int packets) {
    this.packets = packets;
  }

  void start(long now) {
    lastNews = now;
    lost += sent - arrived - lost;
  }

  /** Whether there is room for more; takes what never arrived as lost after a while. */
  boolean hasRoom(int more, long now) {
    if (sent - arrived - lost <= packets - more) {
      return true;
    }
    if (now - lastNews > SILENCE_NANOS) {
      lost = sent - arrived;
      lastNews = now;
    }
    return false;
  }

  void sent(int more) {
    sent += more;
  }

  /** The receiver has reported how many it has had. */
  void arrived(long total, long now) {
    arrived = Math.max(arrived, total);
    lastNews = now;
  }

  long arrived() {
    return arrived;
  }

  long lost() {
    return lost;
  }
}
