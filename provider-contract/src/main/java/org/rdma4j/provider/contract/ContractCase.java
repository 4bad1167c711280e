package org.rdma4j.provider.contract;

import java.util.concurrent.TimeUnit;
import org.rdma4j.provider.contract.suite.Broken;
import org.rdma4j.provider.contract.suite.Case;
import org.rdma4j.provider.contract.suite.Runner;
import org.rdma4j.provider.contract.suite.Setting;

/** One promise of the contract, which can be tried on its own. Immutable. */
public final class ContractCase {
  private final Case inside;

  ContractCase(Case inside) {
    this.inside = inside;
  }

  /** {@return the stable name, such as {@code rc.write.bytes}: areas of the verbs from the left to the right} */
  public String name() {
    return inside.name();
  }

  /** {@return what a provider promises, in one sentence} */
  public String promise() {
    return inside.promise();
  }

  /**
   * Tries the promise. What it makes on the devices is gone when this returns, unless the provider hangs.
   *
   * @param ends the devices
   * @return how it ended
   * @throws InterruptedException when interrupted
   */
  public Result run(Ends ends) throws InterruptedException {
    long begin = System.nanoTime();
    Runner.End end = Runner.run(inside, setting(ends));
    long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begin);
    if (end.broken() != null) {
      return new Result(name(), promise(), Outcome.FAIL, end.broken(), millis);
    }
    return end.skipped() != null
        ? new Result(name(), promise(), Outcome.SKIP, end.skipped(), millis)
        : new Result(name(), promise(), Outcome.PASS, "", millis);
  }

  private static Setting setting(Ends ends) {
    Plug plug = ends.plug();
    return new Setting(
        ends::a,
        ends::b,
        ends.portA(),
        ends.portB(),
        plug == null ? null : () -> call(plug::takeOut, "taking the device out"),
        plug == null ? null : () -> call(plug::putBack, "putting the device back"),
        ends.seed());
  }

  /** A step of a plug. */
  private interface Step {
    void run() throws Exception;
  }

  private static void call(Step step, String what) {
    try {
      step.run();
    } catch (Exception e) {
      throw new Broken(what + " fails", e);
    }
  }

  @Override
  public String toString() {
    return name();
  }
}
