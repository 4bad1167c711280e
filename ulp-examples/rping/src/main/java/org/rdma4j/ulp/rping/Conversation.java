package org.rdma4j.ulp.rping;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.rdma.cm.RdmaCmEvent;
import org.rdma4j.rdma.cm.RdmaCmId;
import org.rdma4j.rdma.cm.RdmaCmState;

/**
 * How far a connection is: events and completions move it on and wake the thread that drives it. What ended it stays.
 * Safe for any thread.
 */
final class Conversation {
  private static final Duration ROUTE_TIMEOUT = Duration.ofSeconds(2);
  private static final long REMOVAL_PATIENCE_SECONDS = 2;

  private final boolean server;
  private final Output output;
  private final Semaphore signals = new Semaphore(0);
  private final CountDownLatch removal = new CountDownLatch(1);
  private RpingState state = RpingState.IDLE; // guarded by this
  private boolean leaving; // guarded by this

  Conversation(boolean server, Output output) {
    this.server = server;
    this.output = output;
  }

  boolean isServer() {
    return server;
  }

  synchronized RpingState state() {
    return state;
  }

  /** Goes to a state, unless it has ended. */
  synchronized void move(RpingState next) {
    if (state != RpingState.DISCONNECTED && state != RpingState.ERROR) {
      state = next;
    }
  }

  /** Wakes the thread that drives it. */
  void signal() {
    signals.release();
  }

  /** Goes to a state and wakes the thread that drives it. */
  void reach(RpingState next) {
    move(next);
    signal();
  }

  /** This side ends it: what follows from that is no news. */
  synchronized void leave() {
    leaving = true;
  }

  synchronized boolean isOver() {
    return leaving || state == RpingState.DISCONNECTED || state == RpingState.ERROR;
  }

  /** Something failed, unless it is over anyway. */
  void fail(String why) {
    if (!isOver()) {
      output.error(why);
    }
    reach(RpingState.ERROR);
  }

  /** Waits until something has happened, whatever it is. */
  RpingState await() throws InterruptedException {
    signals.acquire();
    return state();
  }

  /** Waits until something has happened; says so when it is not what was expected. */
  boolean await(RpingState expected) throws InterruptedException {
    RpingState found = await();
    if (found != expected) {
      output.error("wait for " + expected + " state " + found.number());
    }
    return found == expected;
  }

  /** Whether the device goes, where a call has failed that says so before the event comes. */
  boolean isRemoved(RdmaCmId id) throws InterruptedException {
    return id.state() == RdmaCmState.DEVICE_REMOVAL && removal.await(REMOVAL_PATIENCE_SECONDS, TimeUnit.SECONDS);
  }

  /** A message of the peer has come: what that means depends on the last thing that happened. */
  synchronized void received() {
    RpingState next;
    if (server) {
      boolean first = state.compareTo(RpingState.CONNECTED) <= 0 || state == RpingState.RDMA_WRITE_COMPLETE;
      next = first ? RpingState.RDMA_READ_ADV : RpingState.RDMA_WRITE_ADV;
    } else {
      next = state == RpingState.RDMA_READ_ADV ? RpingState.RDMA_WRITE_ADV : RpingState.RDMA_WRITE_COMPLETE;
    }
    move(next);
  }

  /** An event of its identifier. */
  void onEvent(RdmaCmEvent event) {
    switch (event.type()) {
      case ADDR_RESOLVED -> {
        move(RpingState.ADDR_RESOLVED);
        resolveRoute(event);
      }
      case ROUTE_RESOLVED -> reach(RpingState.ROUTE_RESOLVED);
      case CONNECT_RESPONSE -> {
        output.debug("CONNECT_RESPONSE");
        reach(RpingState.CONNECTED);
      }
      case ESTABLISHED -> {
        output.debug("ESTABLISHED");
        if (!server) {
          move(RpingState.CONNECTED);
        }
        signal();
      }
      case ADDR_ERROR, ROUTE_ERROR, CONNECT_ERROR, UNREACHABLE, REJECTED -> {
        output.error("cma event " + event.type().text() + ", error " + event.status());
        output.error("rping: " + event);
        signal();
      }
      case DISCONNECTED -> {
        if (!isOver()) {
          output.error((server ? "server" : "client") + " DISCONNECT EVENT...");
        }
        reach(RpingState.DISCONNECTED);
      }
      case DEVICE_REMOVAL -> {
        output.error("cma detected device removal!!!!");
        reach(RpingState.ERROR);
        removal.countDown();
      }
      default -> output.error("unhandled event: " + event.type().text() + ", ignoring");
    }
  }

  private void resolveRoute(RdmaCmEvent event) {
    try {
      event.id().resolveRoute(ROUTE_TIMEOUT);
    } catch (VerbsException e) {
      output.error("rdma_resolve_route", e);
      reach(RpingState.ERROR);
    }
  }
}
