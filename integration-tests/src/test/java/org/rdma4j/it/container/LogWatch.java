package org.rdma4j.it.container;

import static org.junit.Assert.assertEquals;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.rules.ExternalResource;
import org.slf4j.LoggerFactory;

/** Fails the test when something logs at WARN or above that the test did not expect, or does not log what it did. */
public final class LogWatch extends ExternalResource {
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final List<String> logged = new ArrayList<>(); // guarded by itself
  private final List<Pattern> expected = new ArrayList<>();
  private final List<Pattern> allowed = new ArrayList<>();
  private final Logger root = (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
  private final AppenderBase<ILoggingEvent> collector =
      new AppenderBase<>() {
        @Override
        protected void append(ILoggingEvent event) {
          if (event.getLevel().isGreaterOrEqual(Level.WARN)) {
            synchronized (logged) {
              logged.add(event.getLevel() + " " + event.getLoggerName() + " " + event.getFormattedMessage());
              logged.notifyAll();
            }
          }
        }
      };

  /** At least one message in which this is found will come, and is no failure. */
  public void expect(String pattern) {
    expected.add(Pattern.compile(pattern));
  }

  /** A message in which this is found may come, and is no failure. */
  public void allow(String pattern) {
    allowed.add(Pattern.compile(pattern));
  }

  /** What was logged at WARN or above so far. */
  public List<String> logged() {
    synchronized (logged) {
      return List.copyOf(logged);
    }
  }

  /** Some of the log is delivered by a thread of its own: what is expected may come a little later. */
  private void awaitExpected() {
    long deadline = System.nanoTime() + PATIENCE_NANOS;
    synchronized (logged) {
      try {
        long left = deadline - System.nanoTime();
        while (!missing(logged).isEmpty() && left > 0) {
          TimeUnit.NANOSECONDS.timedWait(logged, left);
          left = deadline - System.nanoTime();
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private List<String> missing(List<String> lines) {
    return expected.stream()
        .filter(p -> lines.stream().noneMatch(line -> p.matcher(line).find()))
        .map(Pattern::pattern)
        .toList();
  }

  private static boolean isIn(List<Pattern> patterns, String line) {
    return patterns.stream().anyMatch(each -> each.matcher(line).find());
  }

  @Override
  protected void before() {
    collector.setContext(root.getLoggerContext());
    collector.start();
    root.addAppender(collector);
  }

  @Override
  protected void after() {
    awaitExpected();
    root.detachAppender(collector);
    collector.stop();
    List<String> lines = logged();
    assertEquals(
        "unexpected in the log",
        List.of(),
        lines.stream().filter(line -> !isIn(expected, line) && !isIn(allowed, line)).toList());
    assertEquals("expected in the log but not there", List.of(), missing(lines));
  }
}
