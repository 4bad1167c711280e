package org.rdma4j.roce.packet;

/** What an opcode means for requester and responder; bits of {@link Opcode#flags(int)}. Not opcodes themselves. */
public final class OpcodeFlag {

  /** Goes from requester to responder. */
  public static final int REQUEST = 1;

  /** Goes from responder to requester. */
  public static final int RESPONSE = 1 << 1;

  /** Part of a SEND. */
  public static final int SEND = 1 << 2;

  /** Part of an RDMA WRITE. */
  public static final int WRITE = 1 << 3;

  /** RDMA READ request or response. */
  public static final int READ = 1 << 4;

  /** Atomic request or acknowledge. */
  public static final int ATOMIC = 1 << 5;

  /** First packet of a message: FIRST or ONLY. */
  public static final int START = 1 << 6;

  /** Neither first nor last packet of a message. */
  public static final int MIDDLE = 1 << 7;

  /** Last packet of a message: LAST or ONLY. */
  public static final int END = 1 << 8;

  /** Makes a receive completion at the responder. */
  public static final int COMPLETES = 1 << 9;

  /** Takes a receive work request at the responder. */
  public static final int CONSUMES_RECEIVE = 1 << 10;

  /** Carries immediate data. */
  public static final int IMMEDIATE = 1 << 11;

  /** Carries a key to invalidate. */
  public static final int INVALIDATE = 1 << 12;

  /** May carry payload. */
  public static final int PAYLOAD = 1 << 13;

  /** FLUSH request. */
  public static final int FLUSH = 1 << 14;

  /** Atomic WRITE request. */
  public static final int ATOMIC_WRITE = 1 << 15;

  private OpcodeFlag() {}
}
