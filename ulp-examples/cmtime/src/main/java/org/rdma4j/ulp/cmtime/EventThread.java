package org.rdma4j.ulp.cmtime;

import java.util.function.Consumer;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.rdma.cm.EventChannel;
import org.rdma4j.rdma.cm.RdmaCmEvent;

/** Takes the events of a channel, one after the other, until it is closed, by this side or with the manager. */
final class EventThread implements AutoCloseable {
  private final EventChannel channel;
  private final Thread thread;
  private volatile boolean closing;

  /**
   * Starts to take events.
   *
   * @param channel closed at the end
   * @param handler gets the events
   * @param lost gets the reason when there are no more, and nobody here has closed the channel
   */
  EventThread(EventChannel channel, Consumer<RdmaCmEvent> handler, Consumer<VerbsException> lost) {
    this.channel = channel;
    thread = Thread.ofPlatform().daemon().name("cmtime events").start(() -> run(handler, lost));
  }

  private void run(Consumer<RdmaCmEvent> handler, Consumer<VerbsException> lost) {
    try {
      while (true) {
        handler.accept(channel.getEvent(null));
      }
    } catch (VerbsException e) {
      if (!closing) {
        lost.accept(e);
      }
    }
  }

  /** Closes the channel and waits for the thread. */
  @Override
  public void close() {
    closing = true;
    channel.close();
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
