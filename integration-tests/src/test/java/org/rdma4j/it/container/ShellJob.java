package org.rdma4j.it.container;

import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.felix.service.command.CommandProcessor;
import org.apache.felix.service.command.CommandSession;
import org.apache.felix.service.command.Job;
import org.osgi.framework.BundleContext;
import org.osgi.framework.ServiceReference;

/** A command of the shell in a thread of its own: what it prints on either stream, and its exit status. */
final class ShellJob {
  private static final long PATIENCE_MILLIS = 60_000;

  private final String command;
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();
  private final AtomicInteger status = new AtomicInteger();
  private final CompletableFuture<Job> running = new CompletableFuture<>();
  private final Thread thread;

  /** Starts it. */
  ShellJob(BundleContext context, String command) {
    this.command = command;
    thread = Thread.ofPlatform().daemon().name("shell " + command).start(() -> run(context));
  }

  private void run(BundleContext context) {
    ServiceReference<CommandProcessor> reference = context.getServiceReference(CommandProcessor.class);
    var in = new ByteArrayInputStream(new byte[0]);
    try (CommandSession session =
        context.getService(reference).createSession(in, stream(out), stream(err))) {
      session.put("SCOPE", "rdma:*");
      session.setJobListener(
          (job, before, now) -> {
            running.complete(job);
            if (now == Job.Status.Done && job.result() != null) {
              status.compareAndSet(0, job.result().error());
            }
          });
      session.execute(command);
    } catch (Exception e) {
      stream(err).println(e);
      status.set(-1);
    } finally {
      context.ungetService(reference);
    }
  }

  private static PrintStream stream(ByteArrayOutputStream to) {
    return new PrintStream(to, true, StandardCharsets.UTF_8);
  }

  /** Waits for its end; the exit status. */
  int await() throws InterruptedException {
    thread.join(PATIENCE_MILLIS);
    assertFalse("still running: " + this, thread.isAlive());
    return status.get();
  }

  /** Waits for its end, which must be a success. */
  ShellJob succeeds() throws InterruptedException {
    int found = await();
    assertTrue("status " + found + " of " + this, found == 0);
    return this;
  }

  /** The name of the command. */
  String program() {
    return command.split(" ", 2)[0];
  }

  boolean isRunning() {
    return thread.isAlive();
  }

  /** Tells it to end, as Ctrl-C does; its thread may end a moment later than {@link #await} says. */
  void interrupt() {
    running.join().interrupt();
  }

  List<String> out() {
    return out.toString(StandardCharsets.UTF_8).lines().toList();
  }

  List<String> err() {
    return err.toString(StandardCharsets.UTF_8).lines().toList();
  }

  @Override
  public String toString() {
    return command + "\n" + out.toString(StandardCharsets.UTF_8) + err.toString(StandardCharsets.UTF_8);
  }
}
