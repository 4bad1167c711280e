package org.rdma4j.roce.engine;

import org.rdma4j.roce.packet.Psn;

/**
 * The READs, atomics, atomic writes and flushes a responder has executed last, as many as the peer may have
 * outstanding: their responses are sent from here in order, and sent again when a request arrives twice. What is no
 * READ is never executed again: its result is kept (kernel: {@code struct resp_res}; IBA specification section
 * 9.7.5.1.5).
 */
final class ReplyRing {
  /** What a request is answered with. */
  enum Kind {
    /** READ responses. */
    READ,
    /** An atomic acknowledge with the value that was there. */
    ATOMIC,
    /** A READ response without data: the answer to an atomic write and to a flush. */
    EMPTY
  }

  /** One executed request that has a response of its own. */
  static final class Reply {
    Kind kind;
    boolean wanted;
    /** It was sent in full once. */
    boolean complete;
    int firstPsn;
    int lastPsn;
    int msn;
    int key;
    int domain;
    long address;
    long length;
    /** What is sent next. */
    long position;
    /** Where sending began this time. */
    long startedAt;
    /** Where sending ends this time: at the length, unless a duplicate asks for less. */
    long end;
    long original;

    boolean contains(int psn) {
      return Psn.compare(psn, firstPsn) >= 0 && Psn.compare(psn, lastPsn) <= 0;
    }
  }

  private Reply[] replies = new Reply[0];
  private long head;
  private long sendFrom;
  private long answered;

  /** Makes room for {@code size} replies; forgets those that are there unless the size stays. */
  void resize(int size) {
    if (replies.length == size) {
      return;
    }
    replies = new Reply[size];
    for (int i = 0; i < size; i++) {
      replies[i] = new Reply();
    }
    clear();
  }

  void clear() {
    head = 0;
    sendFrom = 0;
    answered = 0;
    for (Reply reply : replies) {
      reply.wanted = false;
    }
  }

  /** Whether the peer has as many unanswered as it may have. */
  boolean isFull() {
    return head - answered >= replies.length;
  }

  /** The place for a new reply; the oldest answered one is forgotten. */
  Reply add() {
    Reply reply = replies[(int) (head % replies.length)];
    head++;
    if (head - sendFrom > replies.length) {
      sendFrom = head - replies.length;
    }
    reply.wanted = true;
    reply.complete = false;
    reply.position = 0;
    reply.startedAt = 0;
    return reply;
  }

  /** The reply that is to be sent now, or null. */
  Reply current() {
    while (sendFrom < head) {
      Reply reply = replies[(int) (sendFrom % replies.length)];
      if (reply.wanted) {
        return reply;
      }
      sendFrom++;
    }
    return null;
  }

  /** The reply of {@link #current} was sent in full. */
  void sent(Reply reply) {
    reply.wanted = false;
    reply.complete = true;
    sendFrom++;
    answered = Math.max(answered, sendFrom);
  }

  boolean isPending() {
    return current() != null;
  }

  /** The reply that answers a PSN, or null when it is forgotten. */
  Reply find(int psn) {
    for (long i = head - 1; i >= 0 && i >= head - replies.length; i--) {
      Reply reply = replies[(int) (i % replies.length)];
      if (reply.contains(psn)) {
        return reply;
      }
    }
    return null;
  }

  /** Sends a part of a reply again, unless that is still to be sent anyway. */
  void replay(Reply reply, long position, long end) {
    if (reply.wanted && reply.position <= position && reply.end >= end) {
      return;
    }
    reply.position = position;
    reply.startedAt = position;
    reply.end = reply.wanted ? Math.max(reply.end, end) : end;
    if (reply.wanted) {
      return;
    }
    reply.wanted = true;
    for (long i = head - 1; i >= 0 && i >= head - replies.length; i--) {
      if (replies[(int) (i % replies.length)] == reply) {
        sendFrom = Math.min(sendFrom, i);
      }
    }
  }
}
