package org.rdma4j.roce.simulation;

import org.rdma4j.roce.engine.CompletionStatus;
import org.rdma4j.roce.engine.WorkOpcode;

/** One work request of a simulation: what is asked, what must come of it, what came of it. */
final class SimOp {
  /** What is wrong with a request on purpose, and how it must therefore end. */
  enum Flaw {
    NONE(CompletionStatus.SUCCESS),
    REMOTE_KEY(CompletionStatus.REMOTE_ACCESS_ERROR),
    REMOTE_RANGE(CompletionStatus.REMOTE_ACCESS_ERROR),
    LOCAL_KEY(CompletionStatus.LOCAL_PROTECTION_ERROR),
    TOO_LONG(CompletionStatus.REMOTE_INVALID_REQUEST),
    /** A SEND with invalidate of a key that may not be. */
    INVALIDATE(CompletionStatus.REMOTE_ACCESS_ERROR),
    /** A message longer than any may be. */
    OVERSIZE(CompletionStatus.LOCAL_LENGTH_ERROR),
    /** A bind that the host refuses. */
    BIND(CompletionStatus.MEMORY_WINDOW_BIND_ERROR),
    /** Another local request that the host refuses. */
    LOCAL(CompletionStatus.LOCAL_QP_OPERATION_ERROR),
    MALFORMED(CompletionStatus.LOCAL_QP_OPERATION_ERROR);

    final CompletionStatus status;

    Flaw(CompletionStatus status) {
      this.status = status;
    }

    /** Whether the responder finds it, and ends its own queue pair therefore. */
    boolean isRemote() {
      return status == CompletionStatus.REMOTE_ACCESS_ERROR || status == CompletionStatus.REMOTE_INVALID_REQUEST;
    }
  }

  final int index;
  int opcode;
  int length;
  /** Where the payload begins in the pattern that all payload is taken from. */
  int patternAt;
  /** Where in the target's region. */
  int targetAt;
  /** Where in the sender's memory for results. */
  int resultAt;
  /** Position of the payload's first and second cut into elements. */
  int firstCut;
  int secondCut;
  /** Reads the pattern instead of the region that the same queue pair changes. */
  boolean readsPattern;
  boolean sharedCounter;
  boolean inline;
  boolean fence;
  boolean signaled;
  boolean solicited;
  int immediate;
  /** Goes to the flow's multicast group. */
  boolean toGroup;
  /** The key it makes, uses or takes back, or null. */
  SimGrant grant;
  /** How many times a local request was executed. */
  int executedTimes;
  long compareAdd;
  long swap;
  int placement;
  int selectivity;
  Flaw flaw = Flaw.NONE;

  /** How it was completed; null while it is not, SUCCESS when it was released silently. */
  CompletionStatus status;
  /** How many receives it has completed. */
  int receivedTimes;

  SimOp(int index) {
    this.index = index;
  }

  boolean isLocal() {
    return WorkOpcode.isLocal(opcode);
  }

  boolean takesReceive() {
    return switch (opcode) {
      case WorkOpcode.SEND, WorkOpcode.SEND_WITH_IMM, WorkOpcode.SEND_WITH_INV, WorkOpcode.RDMA_WRITE_WITH_IMM -> true;
      default -> false;
    };
  }

  boolean isSend() {
    return takesReceive() && opcode != WorkOpcode.RDMA_WRITE_WITH_IMM;
  }

  /** Puts a part of the pattern into the region of the target. */
  boolean isWrite() {
    return WorkOpcode.isWrite(opcode) || opcode == WorkOpcode.ATOMIC_WRITE;
  }

  /** Has its data from the target: a local error comes after the request was executed. */
  boolean readsTarget() {
    return opcode == WorkOpcode.RDMA_READ || WorkOpcode.isAtomic(opcode);
  }

  boolean hasImmediate() {
    return opcode == WorkOpcode.SEND_WITH_IMM || opcode == WorkOpcode.RDMA_WRITE_WITH_IMM;
  }

  /** Changes the region of the target in the order of requests. */
  boolean changesTarget() {
    return length > 0 && isWrite() || WorkOpcode.isAtomic(opcode) && !sharedCounter;
  }

  /** What is asked, for a trace. */
  String describe() {
    return "#" + index + " " + name(opcode) + " of " + length + " bytes"
        + (takesReceive() && !isWrite() ? "" : " at " + (sharedCounter ? "the counter" : "+" + targetAt))
        + (fence ? ", fenced" : "") + (signaled ? "" : ", unsignaled") + (solicited ? ", solicited" : "")
        + (inline ? ", inline" : "") + (toGroup ? ", to the group" : "")
        + (grant == null ? "" : ", by " + name(grant.opcode)) + (flaw == Flaw.NONE ? "" : ", flaw " + flaw);
  }

  /** What is asked, and how, for a sum. */
  String name() {
    boolean isUser = grant != null && !isLocal();
    return name(opcode) + (toGroup ? " to a group" : "") + (isUser ? " by " + name(grant.opcode) : "");
  }

  static String name(int opcode) {
    return switch (opcode) {
      case WorkOpcode.RDMA_WRITE -> "RDMA_WRITE";
      case WorkOpcode.RDMA_WRITE_WITH_IMM -> "RDMA_WRITE_WITH_IMM";
      case WorkOpcode.SEND -> "SEND";
      case WorkOpcode.SEND_WITH_IMM -> "SEND_WITH_IMM";
      case WorkOpcode.RDMA_READ -> "RDMA_READ";
      case WorkOpcode.ATOMIC_CMP_AND_SWP -> "ATOMIC_CMP_AND_SWP";
      case WorkOpcode.ATOMIC_FETCH_AND_ADD -> "ATOMIC_FETCH_AND_ADD";
      case WorkOpcode.SEND_WITH_INV -> "SEND_WITH_INV";
      case WorkOpcode.ATOMIC_WRITE -> "ATOMIC_WRITE";
      case WorkOpcode.FLUSH -> "FLUSH";
      case WorkOpcode.LOCAL_INV -> "LOCAL_INV";
      case WorkOpcode.BIND_MW -> "BIND_MW";
      case WorkOpcode.REG_MR -> "REG_MR";
      default -> "opcode " + opcode;
    };
  }

  @Override
  public String toString() {
    return "#" + index + " opcode " + opcode + " length " + length + " target " + targetAt + (fence ? " fence" : "")
        + (flaw == Flaw.NONE ? "" : " flaw " + flaw) + " status " + status;
  }
}
