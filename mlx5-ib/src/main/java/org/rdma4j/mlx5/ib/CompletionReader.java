package org.rdma4j.mlx5.ib;

import java.lang.foreign.MemorySegment;
import org.rdma4j.ib.core.verbs.WcFlag;
import org.rdma4j.ib.core.verbs.WcOpcode;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.ib.core.verbs.WorkCompletion;

/**
 * Entries of a completion queue in words of verbs (kernel: {@code cq.c:mlx5_poll_one}). Reading one ends the work that
 * it is about, so it is read once. For the holder of the completion queue's lock.
 */
final class CompletionReader {
  private static final int PORT = 1;

  private final ConnectxDevice device;

  CompletionReader(ConnectxDevice device) {
    this.device = device;
  }

  /**
   * Reads an entry.
   *
   * @return false for one of a queue pair that is gone, whose completions were moved before
   */
  boolean read(MemorySegment ring, long at, int opcode, WorkCompletion to) {
    boolean ofSend = CompletionEntry.isOfSend(opcode);
    IbSharedReceiveQueue extended = ofSend ? null : extended(CompletionEntry.srqNumber(ring, at));
    IbQueuePair qp = device.queuePair(CompletionEntry.qpNumber(ring, at));
    if (extended == null && (qp == null || !(ofSend ? qp.hasSends() : qp.hasReceives()))) {
      return false;
    }
    boolean failed = CompletionEntry.isError(opcode);
    WcStatus status = failed ? CompletionEntry.status(ring, at) : WcStatus.SUCCESS;
    if (ofSend) {
      send(ring, at, qp, status, to);
    } else {
      int counter = CompletionEntry.counter(ring, at);
      long wrId = extended == null ? qp.receiveCompleted(counter) : extended.completed(counter);
      receive(ring, at, opcode, qp, wrId, status, to);
    }
    if (failed && qp != null) {
      qp.failed(ofSend, status);
      if (status != WcStatus.WR_FLUSH_ERR) {
        note(ring, at, ofSend, qp, to);
      }
    }
    return true;
  }

  private static void note(MemorySegment ring, long at, boolean ofSend, IbQueuePair qp, WorkCompletion of) {
    int syndrome = CompletionEntry.syndrome(ring, at);
    if (ofSend) {
      int block = qp.sends().index(CompletionEntry.counter(ring, at));
      qp.failure().ofSend(syndrome, of.vendorError(), of.wrId(), qp.sends(), block, qp);
    } else {
      qp.failure().ofReceive(syndrome, of.vendorError(), of.wrId(), of.opcode());
    }
  }

  /** A shared queue of an XRC domain, which has its completions whatever became of the target they came through. */
  private IbSharedReceiveQueue extended(int number) {
    IbSharedReceiveQueue queue = number == 0 ? null : device.sharedQueues().get(number);
    return queue != null && queue.isExtended() ? queue : null;
  }

  private static void send(MemorySegment ring, long at, IbQueuePair qp, WcStatus status, WorkCompletion to) {
    SendQueue sends = qp.sends();
    int index = sends.index(CompletionEntry.counter(ring, at));
    long wrId = sends.wrId(index);
    WcOpcode done = sends.opcode(index);
    boolean failed = status != WcStatus.SUCCESS;
    sends.completed(index, !failed);
    int vendor = failed ? CompletionEntry.vendorError(ring, at) : 0;
    to.set(wrId, status, done, vendor, failed ? 0 : length(ring, at, done), 0, qp.number(), 0, 0, 0, PORT);
  }

  private static int length(MemorySegment ring, long at, WcOpcode done) {
    return switch (done) {
      case RDMA_READ -> CompletionEntry.byteCount(ring, at);
      case COMP_SWAP, FETCH_ADD -> Long.BYTES;
      default -> 0;
    };
  }

  private static void receive(
      MemorySegment ring, long at, int opcode, IbQueuePair qp, long wrId, WcStatus status, WorkCompletion to) {
    int number = qp == null ? CompletionEntry.qpNumber(ring, at) : qp.number();
    WcOpcode done = opcode == CompletionEntry.WRITE_IMMEDIATE ? WcOpcode.RECV_RDMA_WITH_IMM : WcOpcode.RECV;
    if (status != WcStatus.SUCCESS) {
      int vendor = CompletionEntry.vendorError(ring, at);
      to.set(wrId, status, done, vendor, 0, 0, number, 0, 0, 0, PORT);
      return;
    }
    int flags = flags(opcode);
    int immediate = flags == 0 ? 0 : CompletionEntry.immediate(ring, at);
    if (qp != null && qp.isDatagram() && CompletionEntry.hasRoute(ring, at)) {
      flags |= WcFlag.GRH;
    }
    to.set(
        wrId,
        status,
        done,
        0,
        CompletionEntry.byteCount(ring, at),
        immediate,
        number,
        CompletionEntry.sourceQp(ring, at),
        flags,
        0, // Of all P_Keys that it may have come with, the port has this one.
        PORT);
  }

  private static int flags(int opcode) {
    return switch (opcode) {
      case CompletionEntry.WRITE_IMMEDIATE, CompletionEntry.SEND_IMMEDIATE -> WcFlag.WITH_IMM;
      case CompletionEntry.SEND_INVALIDATE -> WcFlag.WITH_INVALIDATE;
      default -> 0;
    };
  }

  /** A completion that the card did not write. */
  static WorkCompletion flushed(long wrId, WcOpcode opcode, IbQueuePair qp) {
    WorkCompletion completion = new WorkCompletion();
    completion.set(wrId, WcStatus.WR_FLUSH_ERR, opcode, 0, 0, 0, qp.number(), 0, 0, 0, PORT);
    return completion;
  }

  static void copy(WorkCompletion from, WorkCompletion to) {
    to.set(
        from.wrId(),
        from.status(),
        from.opcode(),
        from.vendorError(),
        from.byteLength(),
        from.immediate(),
        from.qpNumber(),
        from.sourceQp(),
        from.flags(),
        from.pkeyIndex(),
        from.portNumber());
  }
}
