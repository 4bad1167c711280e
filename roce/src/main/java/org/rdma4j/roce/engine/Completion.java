package org.rdma4j.roce.engine;

/** What the engine tells of a finished work request; an engine has one object, valid only during the call. */
public final class Completion {
  /** Flag: a GRH precedes the data of a datagram. */
  public static final int GRH = 1;
  /** Flag: {@link #immediate} is valid. */
  public static final int WITH_IMMEDIATE = 2;
  /** Flag: {@link #immediate} is the key that was invalidated. */
  public static final int WITH_INVALIDATE = 4;
  /** Completion opcode of a receive. */
  public static final int OPCODE_RECEIVE = 128;
  /** Completion opcode of a receive used up by a WRITE with immediate. */
  public static final int OPCODE_RECEIVE_RDMA_WITH_IMM = 129;

  /** Identifier of the work request. */
  public long id;
  /** How it ended. */
  public CompletionStatus status;
  /** Number of {@code enum ib_wc_opcode}. */
  public int opcode;
  /** Which check failed. */
  public FailedCheck check;
  /** Bytes received, read or sent. */
  public int byteLength;
  /** Immediate data or invalidated key. */
  public int immediate;
  /** Own queue pair number. */
  public int qpNumber;
  /** Sender of a datagram. */
  public int sourceQp;
  /** Which P_Key of the port's table a datagram came with. */
  public int pkeyIndex;
  /** Whether the last packet of a receive came over IPv4, and not IPv6. */
  public boolean ipv4;
  /** {@link #GRH}, {@link #WITH_IMMEDIATE}, {@link #WITH_INVALIDATE}. */
  public int flags;

  /** Makes an empty one. */
  public Completion() {}
}
