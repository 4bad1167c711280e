package org.rdma4j.benchmarks.speed;

import java.util.function.BiFunction;
import org.rdma4j.ib.core.verbs.WrOpcode;
import org.rdma4j.roce.address.Gid;

/** What is measured between two processes, each against a peer of its own kind. */
enum Case {
  /** RC WRITE of 64 KiB. */
  WRITE_64K("rc write 64 KiB", (local, remote) -> stream(local, remote, WrOpcode.RDMA_WRITE)),
  /** RC SEND of 64 KiB. */
  SEND_64K("rc send 64 KiB", (local, remote) -> stream(local, remote, WrOpcode.SEND)),
  /** RC READ of 64 KiB. */
  READ_64K("rc read 64 KiB", (local, remote) -> stream(local, remote, WrOpcode.RDMA_READ)),
  /** Bare datagrams through the same link. */
  LINK("bare link", (local, remote) -> new LinkStream(local, remote, Limits.WINDOW)),
  /** Bare datagrams through NIO. */
  NIO("nio, one call a packet", (local, remote) -> new NioStream(local, remote, Limits.WINDOW)),
  /** RC SEND of 64 bytes and back, polling. */
  SEND_64_POLL("rc send 64 B round trip, polling", (local, remote) -> new RdmaRoundTrip(local, remote, false)),
  /** The same with events. */
  SEND_64_EVENT("rc send 64 B round trip, events", (local, remote) -> new RdmaRoundTrip(local, remote, true)),
  /** Datagrams of 64 bytes and back, polling. */
  UDP_64_POLL("udp 64 B round trip, polling", (local, remote) -> new NioRoundTrip(local, remote, false)),
  /** The same, sleeping in the read. */
  UDP_64_BLOCK("udp 64 B round trip, blocking", (local, remote) -> new NioRoundTrip(local, remote, true)),
  /** RC SEND of 1 KiB over one queue pair. */
  RATE_1("rc send 1 KiB, 1 queue pair", (local, remote) -> rate(local, remote, 1)),
  /** RC SEND of 1 KiB over eight queue pairs. */
  RATE_8("rc send 1 KiB, 8 queue pairs", (local, remote) -> rate(local, remote, 8)),
  /** RC SEND of 1 KiB over 32 queue pairs. */
  RATE_32("rc send 1 KiB, 32 queue pairs", (local, remote) -> rate(local, remote, 32)),
  /** RC WRITE of 64 KiB where one of a thousand packets gets lost. */
  LOSS_01("rc write 64 KiB, 0.1 % loss", (local, remote) -> lossy(local, remote, 0.001)),
  /** RC WRITE of 64 KiB where one of a hundred packets gets lost. */
  LOSS_1("rc write 64 KiB, 1 % loss", (local, remote) -> lossy(local, remote, 0.01)),
  /** RC WRITE of 64 KiB where one of twenty packets gets lost. */
  LOSS_5("rc write 64 KiB, 5 % loss", (local, remote) -> lossy(local, remote, 0.05)),
  /** RC WRITE of 64 bytes. */
  WRITE_64("rc write 64 B", Case::smallWrites);

  private static final int LARGE = 65_536;
  private static final int LARGE_DEPTH = 32;
  private static final int LARGE_CHAIN = 8;
  private static final int SMALL = 1024;
  private static final int SMALL_DEPTH = 256;
  private static final int SMALL_CHAIN = 8;

  private final String title;
  private final BiFunction<Gid, Gid, Workload> factory;

  Case(String title, BiFunction<Gid, Gid, Workload> factory) {
    this.title = title;
    this.factory = factory;
  }

  private static final class Limits {
    /** Packets under way of a bare stream: as many as the engine lets a queue pair have. */
    static final int WINDOW = 128;
  }

  private static Workload stream(Gid local, Gid remote, WrOpcode opcode) {
    return new RdmaStream(local, remote, opcode, LARGE, 1, LARGE_DEPTH, LARGE_CHAIN, 0);
  }

  private static Workload lossy(Gid local, Gid remote, double loss) {
    return new RdmaStream(local, remote, WrOpcode.RDMA_WRITE, LARGE, 1, LARGE_DEPTH, LARGE_CHAIN, loss);
  }

  private static Workload rate(Gid local, Gid remote, int count) {
    int depth = Math.max(SMALL_DEPTH / count, SMALL_CHAIN);
    return new RdmaStream(local, remote, WrOpcode.SEND, SMALL, count, depth, SMALL_CHAIN, 0);
  }

  private static Workload smallWrites(Gid local, Gid remote) {
    return new RdmaStream(local, remote, WrOpcode.RDMA_WRITE, RdmaRoundTrip.SIZE, 1, Limits.WINDOW, SMALL_CHAIN, 0);
  }

  String title() {
    return title;
  }

  Workload open(Gid local, Gid remote) {
    return factory.apply(local, remote);
  }
}
