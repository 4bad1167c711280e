package org.rdma4j.roce.engine;

/**
 * Send work requests of one queue pair between the host's ring and their completion. Positions count from 0 and never
 * wrap: {@code oldest <= next <= fetched}. Requests complete in order, each exactly once.
 */
final class SendQueue {
  private final QpContext qp;
  private final SendWork[] works;
  private final int maxSge;
  private final Completion completion;
  private long oldest;
  private long next;
  private long fetched;

  SendQueue(QpContext qp, int depth, int maxSge, Completion completion) {
    this.qp = qp;
    this.works = new SendWork[Integer.highestOneBit(Math.max(1, depth) * 2 - 1)];
    this.maxSge = maxSge;
    this.completion = completion;
  }

  /** The request to work on next, fetched from the host when need be, or null. */
  SendWork next() {
    if (next == fetched && !fetch()) {
      return null;
    }
    return works[(int) next & works.length - 1];
  }

  /** The request that must complete first, or null when nothing that was fetched is incomplete. */
  SendWork oldest() {
    return oldest == fetched ? null : works[(int) oldest & works.length - 1];
  }

  boolean nextIsOldest() {
    return next == oldest;
  }

  /** Whether requests have been begun that are not complete. */
  boolean hasStarted() {
    SendWork work = oldest();
    return work != null && work.progress == SendWork.STARTED;
  }

  void advance() {
    next++;
  }

  /** Goes back to the oldest incomplete request. */
  void rewind() {
    next = oldest;
  }

  /** Where {@link #next} stands, for {@link #goTo}. */
  long position() {
    return next;
  }

  /** Goes on from a position, which is not before the oldest incomplete request. */
  void goTo(long position) {
    next = position;
  }

  /** Completes the oldest request. */
  void complete(SendWork work, CompletionStatus status, FailedCheck check) {
    // First the slot, then the completion: who sees it may post at once (rxe_comp.c:do_complete).
    qp.host().releaseSend(oldest + 1);
    if (status != CompletionStatus.SUCCESS || work.signaled || qp.signalsAll()) {
      completion.id = work.id;
      completion.status = status;
      completion.check = check;
      completion.opcode = WorkOpcode.completionOpcode(work.opcode);
      completion.byteLength = (int) work.length;
      completion.immediate = 0;
      completion.qpNumber = qp.number();
      completion.sourceQp = 0;
      completion.flags =
          work.opcode == WorkOpcode.SEND_WITH_IMM || work.opcode == WorkOpcode.RDMA_WRITE_WITH_IMM
              ? Completion.WITH_IMMEDIATE
              : 0;
      qp.host().completeSend(completion);
    }
    qp.engine().counters().increment(EngineCounter.RDMA_SENDS);
    oldest++;
    if (next < oldest) {
      next = oldest;
    }
  }

  /** Completes everything posted: the oldest with its own error where it failed, all others as flushed. */
  void flush() {
    SendWork failed = oldest();
    if (failed != null && failed.progress == SendWork.FAILED) {
      complete(failed, failed.status, failed.check);
    }
    next = oldest;
    for (SendWork work = next(); work != null; work = next()) {
      complete(work, CompletionStatus.FLUSHED, FailedCheck.FLUSH);
    }
  }

  /** Forgets everything posted, without completions; for RESET. */
  void discard() {
    next = oldest;
    while (next() != null) {
      oldest++;
      next = oldest;
    }
    qp.host().releaseSend(oldest);
  }

  private boolean fetch() {
    if (fetched - oldest == works.length) {
      return false;
    }
    int slot = (int) fetched & works.length - 1;
    SendWork work = works[slot];
    if (work == null) {
      work = new SendWork(maxSge);
      works[slot] = work;
    }
    work.reset();
    if (!qp.host().fetchSend(fetched, work)) {
      return false;
    }
    work.measure();
    fetched++;
    return true;
  }
}
