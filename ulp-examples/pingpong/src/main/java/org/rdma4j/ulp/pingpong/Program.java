package org.rdma4j.ulp.pingpong;

import org.rdma4j.ib.core.verbs.QpType;

/** The four programs and what sets them apart. */
enum Program {
  /** Reliable connection. */
  RC("ibv_rc_pingpong", QpType.RC, 4096, (byte) 0x7b, "can't read sgid of index %d"),
  /** Unreliable connection. */
  UC("ibv_uc_pingpong", QpType.UC, 4096, (byte) 0x7b, "can't read sgid of index %d"),
  /** Unreliable datagram. */
  UD("ibv_ud_pingpong", QpType.UD, 2048, (byte) 0x7b, "Could not get local gid for gid index %d"),
  /** Several reliable connections that share their receives. */
  SRQ("ibv_srq_pingpong", QpType.RC, 4096, (byte) 0, "Could not get local gid for gid index %d");

  private final String command;
  private final QpType type;
  private final int defaultSize;
  private final byte fill;
  private final String noGid;

  Program(String command, QpType type, int defaultSize, byte fill, String noGid) {
    this.command = command;
    this.type = type;
    this.defaultSize = defaultSize;
    this.fill = fill;
    this.noGid = noGid;
  }

  /** The name people type. */
  String command() {
    return command;
  }

  QpType type() {
    return type;
  }

  /** Bytes of a message where nothing else is asked for. */
  int defaultSize() {
    return defaultSize;
  }

  /** What the buffer is full of before the first message. */
  byte fill() {
    return fill;
  }

  /** What is said of a GID index without a GID. */
  String noGid() {
    return noGid;
  }

  /** Bytes in front of a received message: UD delivers a global route header there. */
  int headroom() {
    return this == UD ? 40 : 0;
  }

  /** Lines of addresses in the exchange: {@code ibv_srq_pingpong} always sends as many as it could have. */
  int addresses() {
    return this == SRQ ? PingpongOptions.MAX_QP : 1;
  }
}
