package org.rdma4j.ulp.pingpong;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.rdma4j.ib.core.verbs.CompletionQueue;
import org.rdma4j.ib.core.verbs.CqNotify;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.ib.core.verbs.WorkCompletion;
import org.rdma4j.ulp.command.CommandException;

/**
 * The traffic: a queue pair sends its next message when its last one has completed and the peer's answer is there. It
 * allocates nothing while it runs. Belongs to one thread, which can be interrupted.
 */
final class Exchanges {
  private static final int SPINS = 1_000;
  private static final int YIELDS = 2_000;
  private static final long NAP_NANOS = Duration.ofNanos(50_000).toNanos();

  private final Endpoint endpoint;
  private final int iterations;
  private final int receiveDepth;
  private final int[] pending;
  private final WorkCompletion[] completions;
  private int receivesPosted;
  private int received;
  private int sent;

  Exchanges(Endpoint endpoint, PingpongOptions options) {
    this.endpoint = endpoint;
    iterations = options.iterations();
    receiveDepth = options.receiveDepth();
    pending = new int[endpoint.size()];
    completions = WorkCompletion.batch(Math.max(2, 2 * endpoint.size()));
  }

  /** Posts the first receives and arms the completion queue where events are used. */
  void prepare() throws CommandException {
    postReceives();
    if (endpoint.channel() != null) {
      arm();
    }
  }

  /** Runs all exchanges; the client starts them. */
  void run(boolean client) throws CommandException, InterruptedException {
    for (int i = 0; i < pending.length; i++) {
      pending[i] = Endpoint.RECEIVE;
      if (client) {
        endpoint.postSend(i);
        pending[i] |= Endpoint.SEND;
      }
    }
    CompletionQueue cq = endpoint.completionQueue();
    boolean events = endpoint.channel() != null;
    while (received < iterations || sent < iterations) {
      if (events) {
        awaitEvent(cq);
        arm();
      }
      int found = events ? poll(cq) : awaitCompletions(cq);
      while (found > 0) {
        for (int i = 0; i < found; i++) {
          completed(completions[i]);
        }
        found = found == completions.length ? poll(cq) : 0;
      }
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
    }
  }

  private void completed(WorkCompletion completion) throws CommandException {
    int kind = (int) completion.wrId();
    if (completion.status() != WcStatus.SUCCESS) {
      throw new CommandException(
          "Failed status " + completion.status().text() + " (" + completion.status().number() + ") for wr_id " + kind
              + "\n" + endpoint.explain(completion));
    }
    int index = endpoint.indexOf(completion.qpNumber());
    if (index < 0) {
      throw new CommandException(String.format("Couldn't find QPN %06x", completion.qpNumber()));
    }
    if (kind == Endpoint.SEND) {
      sent++;
    } else if (kind == Endpoint.RECEIVE) {
      received++;
      receivesPosted--;
      if (receivesPosted <= pending.length) {
        postReceives();
      }
    } else {
      throw new CommandException("Completion for unknown wr_id " + kind);
    }
    pending[index] &= ~kind;
    if (sent < iterations && pending[index] == 0) {
      endpoint.postSend(index);
      pending[index] = Endpoint.RECEIVE | Endpoint.SEND;
    }
  }

  private void postReceives() throws CommandException {
    receivesPosted += endpoint.postReceives(receiveDepth - receivesPosted);
    if (receivesPosted < receiveDepth) {
      throw new CommandException("Couldn't post receive (" + receivesPosted + ")");
    }
  }

  private void arm() throws CommandException {
    try {
      endpoint.completionQueue().requestNotify(CqNotify.NEXT_COMP);
    } catch (VerbsException e) {
      throw new CommandException("Couldn't request CQ notification", e);
    }
  }

  private void awaitEvent(CompletionQueue expected) throws CommandException, InterruptedException {
    try {
      CompletionQueue found = endpoint.channel().getEvent(null);
      if (found != expected) {
        throw new CommandException("CQ event for unknown CQ " + found);
      }
    } catch (VerbsException e) {
      if (e.errno() == Errno.ECANCELED && Thread.interrupted()) {
        throw new InterruptedException();
      }
      throw new CommandException("Failed to get cq_event", e);
    }
  }

  /** Polls until there are completions: busily at first, then leaving the processor to others, maybe the peer. */
  @SuppressWarnings("ThreadPriorityCheck") // nothing relies on it: a yield that does nothing is a spin
  private int awaitCompletions(CompletionQueue cq) throws CommandException, InterruptedException {
    for (int tries = 0; ; tries++) {
      int found = poll(cq);
      if (found > 0) {
        return found;
      }
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
      if (tries < SPINS) {
        Thread.onSpinWait();
      } else if (tries < YIELDS) {
        Thread.yield();
      } else {
        LockSupport.parkNanos(NAP_NANOS);
      }
    }
  }

  private int poll(CompletionQueue cq) throws CommandException {
    try {
      return cq.poll(completions);
    } catch (VerbsException e) {
      throw new CommandException("poll CQ failed", e);
    }
  }
}
