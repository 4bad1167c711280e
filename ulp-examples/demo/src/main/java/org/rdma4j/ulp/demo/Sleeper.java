package org.rdma4j.ulp.demo;

import java.time.Duration;
import org.rdma4j.ib.core.verbs.CompletionChannel;
import org.rdma4j.ib.core.verbs.Context;
import org.rdma4j.ib.core.verbs.CqNotify;
import org.rdma4j.ib.core.verbs.RdmaDevice;
import org.rdma4j.ib.core.verbs.VerbsException;

/** A consumer that waits, for ever if need be, for a completion that does not come. */
final class Sleeper implements AutoCloseable {
  private final Context context;
  private final CompletionChannel channel;
  private final Thread thread;
  private volatile String end;

  Sleeper(RdmaDevice device) {
    context = device.open(DemoCommand.NAME);
    channel = context.createCompletionChannel();
    context.createCq(1, channel, 0).requestNotify(CqNotify.NEXT_COMP);
    thread = Thread.ofPlatform().name("demo sleeper " + device.name()).daemon().start(this::sleep);
  }

  private void sleep() {
    try {
      end = "woken by " + channel.getEvent(null);
    } catch (VerbsException e) {
      end = e.errno() + ": " + e.getMessage();
    }
  }

  /** How its wait ended, or null where it goes on. */
  String end() throws InterruptedException {
    thread.join(Duration.ofSeconds(5));
    return end;
  }

  @Override
  public void close() {
    thread.interrupt();
    context.close();
  }
}
