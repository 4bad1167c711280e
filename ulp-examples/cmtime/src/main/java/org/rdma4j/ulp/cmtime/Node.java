package org.rdma4j.ulp.cmtime;

import org.rdma4j.rdma.cm.RdmaCmId;

/** One connection of the client. Its step is ended once, by the thread that begins steps or by that of the events. */
final class Node {
  /** Which of all. */
  final int index;

  /** Its identifier, null before it has one. */
  volatile RdmaCmId id;

  /** The step that waits for an event, or did so last. */
  volatile Step step;

  /** Whether it is left out from now on. */
  volatile boolean failed;

  /** How often it is tried again; belongs to the thread of the events while a step waits. */
  int retries;

  private Step ended; // guarded by this

  Node(int index, int retries) {
    this.index = index;
    this.retries = retries;
  }

  /** Ends the step; whether that is news. */
  synchronized boolean end(Step which) {
    boolean news = which == step && which != ended;
    if (news) {
      ended = which;
    }
    return news;
  }
}
