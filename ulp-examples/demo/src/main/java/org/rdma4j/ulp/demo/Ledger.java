package org.rdma4j.ulp.demo;

import java.util.BitSet;
import org.rdma4j.ib.core.verbs.WcStatus;

/**
 * The books of one queue: each work request that was posted, and what became of it. Identifiers count up from 0. One
 * thread writes; the others read when that has ended.
 */
final class Ledger {
  private final BitSet completed = new BitSet();
  private int posted;
  private int accounted;
  private long succeeded;
  private long flushed;
  private long peerGone;
  private long failed;
  private long doubled;

  /** Books a work request that the queue took; its identifier is what {@link #posted()} was before. */
  void post() {
    posted++;
  }

  /** Books a completion. */
  void complete(long id, WcStatus status) {
    if (id < 0 || id >= posted || completed.get((int) id)) {
      doubled++;
      return;
    }
    completed.set((int) id);
    accounted++;
    switch (status) {
      case SUCCESS -> succeeded++;
      case WR_FLUSH_ERR -> flushed++;
      case RETRY_EXC_ERR -> peerGone++;
      default -> failed++;
    }
  }

  /** Adds another queue's books to these, for totals only. */
  void add(Ledger other) {
    posted += other.posted;
    accounted += other.accounted;
    succeeded += other.succeeded;
    flushed += other.flushed;
    peerGone += other.peerGone;
    failed += other.failed;
    doubled += other.doubled;
  }

  /** Work requests taken by the queue. */
  int posted() {
    return posted;
  }

  long succeeded() {
    return succeeded;
  }

  /** Completed as flushed. */
  long flushed() {
    return flushed;
  }

  /** Completed because the peer did not answer any more. */
  long peerGone() {
    return peerGone;
  }

  /** Completed with any other error. */
  long failed() {
    return failed;
  }

  /** Posted and not completed, so far or for ever. */
  int missing() {
    return posted - accounted;
  }

  /** Completions of what was not posted or had completed before. */
  long doubled() {
    return doubled;
  }
}
