package org.rdma4j.provider.contract.suite;

import java.time.Duration;
import java.util.Arrays;
import java.util.stream.Collectors;
import org.rdma4j.ib.core.verbs.RdmaDevice;

/** Runs one case on a thread of its own, so that a call of the provider that does not return stops nothing else. */
public final class Runner {
  private static final int LIMIT_STEPS = 1200;
  private static final Duration STEP = Duration.ofMillis(100);
  private static final int STACK = 12;

  /** How a case ended: neither field for a promise that is kept. */
  public record End(String skipped, String broken) {}

  private final Case tried;
  private final Setting setting;
  private volatile End end;

  private Runner(Case tried, Setting setting) {
    this.tried = tried;
    this.setting = setting;
  }

  /**
   * Runs a case.
   *
   * @param tried the case
   * @param setting what on
   * @return how it ended
   * @throws InterruptedException when told to end; the case is told too
   */
  public static End run(Case tried, Setting setting) throws InterruptedException {
    return new Runner(tried, setting).run();
  }

  private End run() throws InterruptedException {
    Thread thread = Thread.ofPlatform().daemon().name("contract " + tried.name()).unstarted(this::work);
    thread.start();
    try {
      for (int i = 0; i < LIMIT_STEPS; i++) {
        if (thread.join(STEP)) {
          return end;
        }
      }
    } catch (InterruptedException e) {
      thread.interrupt();
      throw e;
    }
    String stack =
        Arrays.stream(thread.getStackTrace()).limit(STACK).map(String::valueOf).collect(Collectors.joining(" < "));
    thread.interrupt();
    return new End(null, "it does not return; it stands at " + stack);
  }

  private void work() {
    try {
      String missing = missing();
      end = missing == null ? tryIt() : new End(missing, null);
    } catch (Skipped e) {
      end = new End(e.getMessage(), null);
    } catch (Exception | Error e) {
      end = new End(null, text(e));
    }
  }

  private String missing() {
    for (Need need : tried.needs()) {
      for (RdmaDevice device : new RdmaDevice[] {setting.a().get(), setting.b().get()}) {
        String missing = need.missing(device);
        if (missing != null) {
          return missing;
        }
      }
    }
    return null;
  }

  private End tryIt() throws Exception {
    try (Bench bench = new Bench(setting, tried.name())) {
      tried.body().run(bench);
    }
    return new End(null, null);
  }

  /** What was found, and where in the suite, so that a vendor can look the call up. */
  private static String text(Throwable e) {
    String where =
        Arrays.stream(e.getStackTrace())
            .filter(frame -> frame.getClassName().endsWith("Cases"))
            .findFirst()
            .map(frame -> " [" + frame.getFileName() + ":" + frame.getLineNumber() + "]")
            .orElse("");
    String cause = e.getCause() == null ? "" : "; because: " + e.getCause();
    String what = e instanceof Broken ? e.getMessage() : e.toString();
    return what + cause + where;
  }
}
