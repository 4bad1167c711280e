package org.rdma4j.tools.launcher;

import java.io.PrintStream;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.apache.felix.gogo.runtime.CommandNotFoundException;
import org.apache.felix.service.command.CommandSession;
import org.apache.felix.service.command.Converter;
import org.apache.felix.service.command.Function;
import org.apache.felix.service.command.Job;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs commands in a Gogo session and knows the exit status: that of the first which failed. */
final class CommandRunner {
  static final int NOT_FOUND = 127;

  private static final Logger LOG = LoggerFactory.getLogger(CommandRunner.class);

  private final CommandSession session;
  private final PrintStream out;
  private final PrintStream err;
  private int status;
  private Exception reported;

  CommandRunner(CommandSession session, PrintStream out, PrintStream err) {
    this.session = session;
    this.out = out;
    this.err = err;
    session.put("SCOPE", "rdma:*");
    session.setJobListener(this::jobChanged);
  }

  /**
   * Runs one command. Its arguments do not pass through Gogo's parser, so that they need no quoting.
   *
   * @return its exit status
   */
  int run(String name, List<String> arguments) {
    if (!(session.get(name.contains(":") ? name : "*:" + name) instanceof Function function)) {
      failed(name, new CommandNotFoundException(name));
      return status();
    }
    session.put(name, (Function) (s, none) -> function.execute(s, List.copyOf(arguments)));
    return execute(name, name);
  }

  /**
   * Runs a script and then waits for what it left in the background.
   *
   * @return the exit status of the first command that failed
   */
  int runScript(String script) {
    return execute("rdma", script);
  }

  private int execute(String name, String text) {
    try {
      Object result = session.execute(text);
      if (result != null && !(result instanceof Integer)) {
        out.println(session.format(result, Converter.INSPECT));
      }
      awaitBackground();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      fail(130);
    } catch (Exception e) {
      failed(name, e);
    }
    return status();
  }

  private void awaitBackground() throws InterruptedException {
    for (Job job : List.copyOf(session.jobs())) {
      var done = new CountDownLatch(1);
      session.setJobListener(
          (changed, before, now) -> {
            jobChanged(changed, before, now);
            if (job.status() == Job.Status.Done) {
              done.countDown();
            }
          });
      if (job.status() != Job.Status.Done) {
        done.await();
      }
    }
  }

  private void jobChanged(Job job, Job.Status before, Job.Status now) {
    if (now != Job.Status.Done || job.parent() != null || job.result() == null) {
      return;
    }
    if (job.result().exception() != null) {
      failed(firstWord(job.command().toString()), job.result().exception());
    } else {
      fail(job.result().result() instanceof Integer value ? value : job.result().error());
    }
  }

  private synchronized void failed(String name, Exception failure) {
    if (failure == reported) {
      return;
    }
    reported = failure;
    LOG.debug("{} failed", name, failure);
    if (failure instanceof CommandNotFoundException missing) {
      err.println("rdma: " + missing.getCommand() + ": no such command (\"rdma --help\" lists them)");
      fail(NOT_FOUND);
    } else {
      String message = failure.getMessage();
      err.println(name + ": " + (message == null ? failure.getClass().getSimpleName() : message));
      fail(1);
    }
  }

  private synchronized void fail(int failure) {
    if (status == 0) {
      status = failure;
    }
  }

  private synchronized int status() {
    return status;
  }

  private static String firstWord(String command) {
    return command.strip().split("\\s", 2)[0];
  }
}
