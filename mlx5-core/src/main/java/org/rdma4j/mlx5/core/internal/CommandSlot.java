package org.rdma4j.mlx5.core.internal;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;

/** An entry of the command queue, and who waits for it. */
final class CommandSlot {
  /** How it is with a slot. */
  enum State {
    FREE,
    BUSY,
    /** The card has answered. */
    DONE,
    /** The interface went down. */
    ABORTED,
    /** Nobody waits any more, but the card may still write: the slot stays taken until it does. */
    ABANDONED
  }

  private final int index;
  private State state = State.FREE; // this and the following guarded by this
  private MailboxChain input;
  private MailboxChain output;

  CommandSlot(int index) {
    this.index = index;
  }

  int index() {
    return index;
  }

  synchronized void begin(MailboxChain newInput, MailboxChain newOutput) {
    input = newInput;
    output = newOutput;
    state = State.BUSY;
  }

  /** The card has answered, as an event says; true when nobody waits and the slot is to be released. */
  synchronized boolean complete() {
    if (state == State.BUSY) {
      state = State.DONE;
      notifyAll();
    }
    return state == State.ABANDONED;
  }

  synchronized void abort() {
    if (state == State.BUSY) {
      state = State.ABORTED;
      notifyAll();
    }
  }

  /** Waits until it is done or aborted; returns how it is then. */
  synchronized State await(long millis) throws InterruptedException {
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    long left = end - System.nanoTime();
    while (state == State.BUSY && left > 0) {
      TimeUnit.NANOSECONDS.timedWait(this, left);
      left = end - System.nanoTime();
    }
    return state;
  }

  synchronized State state() {
    return state;
  }

  synchronized boolean isAbandoned() {
    return state == State.ABANDONED;
  }

  /** Gives up waiting; false when it was done in the last moment. */
  synchronized boolean abandon() {
    if (state == State.BUSY) {
      state = State.ABANDONED;
    }
    return state == State.ABANDONED;
  }

  /** Reads what lies in the mailboxes of the answer; false when a signature is wrong. */
  synchronized boolean read(MemorySegment answer, boolean signed) {
    if (signed && !output.isSigned()) {
      return false;
    }
    output.read(answer);
    return true;
  }

  synchronized void free() {
    state = State.FREE;
    if (input != null) {
      input.close();
      output.close();
    }
    input = null;
    output = null;
  }
}
