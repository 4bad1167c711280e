package org.rdma4j.roce.engine;

import java.lang.foreign.MemorySegment;
import org.rdma4j.roce.link.Route;

/**
 * One send work request as the engine holds it from the first look at the ring until its completion (kernel: {@code
 * struct rxe_send_wqe}). The host fills the public fields in {@link QpHost#fetchSend}; everything is a copy, so that
 * a ring shared with somebody hostile cannot change under the checks.
 */
public final class SendWork {
  /** Identifies the request to its owner. */
  public long id;
  /** One of {@link WorkOpcode}. */
  public int opcode;
  /** Wait until earlier READs and atomics are complete. */
  public boolean fence;
  /** A completion is wanted on success too. */
  public boolean signaled;
  /** The receiver's completion raises a solicited event. */
  public boolean solicited;
  /** Immediate data (big-endian value as it goes on the wire), or the key to invalidate. */
  public int immediate;
  /** Address of the remote memory. */
  public long remoteAddress;
  /** Key of the remote memory. */
  public int remoteKey;
  /** Value to compare with, or to add. */
  public long compareAdd;
  /** Value to store when the comparison holds. */
  public long swap;
  /** Of a flush, the placement types: bits of {@link org.rdma4j.roce.packet.Feth}. */
  public int placement;
  /** Of a flush, the selectivity level: a value of {@link org.rdma4j.roce.packet.Feth}. */
  public int selectivity;
  /** Of a flush, the bytes of remote memory it works on. */
  public long flushLength;
  /** Way to the receiver of a datagram; null for connected services. */
  public Route route;
  /** Queue pair number of the receiver of a datagram. */
  public int remoteQp;
  /** Q_Key of a datagram; with the top bit set the queue pair's own is sent. */
  public int remoteQkey;
  /** P_Key of the port's table that a datagram of the general services queue pair goes with. */
  public int pkeyIndex;
  /** Shared receive queue of the target of an extended reliable connection, 24 bits. */
  public int xrcSrq;
  /** Memory to send from or to read into; unused when {@link #inlineLength} is not negative. */
  public final ScatterGather sge;
  /** Memory that holds inline data until the request is complete, or null. */
  public MemorySegment inlineMemory;
  /** Where the inline data begins in it. */
  public long inlineOffset;
  /** Bytes of inline data, or -1 when the data is in {@link #sge}. */
  public int inlineLength;
  /**
   * What a local operation needs besides, in the host's own terms. It stays here from one request to the next, for the
   * host to use again.
   */
  public Object local;
  /** Set by the host when the request is malformed: it fails with this check when its turn comes. */
  public FailedCheck malformed = FailedCheck.NONE;

  // What the engine notes while the request is on its way.
  static final int POSTED = 0;
  static final int STARTED = 1;
  static final int DONE = 2;
  static final int FAILED = 3;
  int progress;
  int firstPsn;
  int lastPsn;
  long length;
  CompletionStatus status = CompletionStatus.SUCCESS;
  FailedCheck check = FailedCheck.NONE;

  SendWork(int maxSge) {
    sge = new ScatterGather(maxSge);
  }

  /** Forgets everything, before the host fills it. */
  void reset() {
    sge.clear();
    inlineMemory = null;
    inlineOffset = 0;
    inlineLength = -1;
    route = null;
    pkeyIndex = 0;
    malformed = FailedCheck.NONE;
    fence = false;
    signaled = false;
    solicited = false;
    progress = POSTED;
    status = CompletionStatus.SUCCESS;
    check = FailedCheck.NONE;
  }

  void measure() {
    if (opcode == WorkOpcode.FLUSH) {
      length = flushLength;
    } else {
      length = inlineLength >= 0 ? inlineLength : sge.total();
    }
  }
}
