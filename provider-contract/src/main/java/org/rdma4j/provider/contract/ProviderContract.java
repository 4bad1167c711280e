package org.rdma4j.provider.contract;

import java.util.List;
import java.util.function.Predicate;
import org.rdma4j.provider.contract.suite.CaseList;

/**
 * The contract of all providers. Plain Java: it needs devices and nothing else, in a container or without one. Cases
 * run one after the other and leave nothing behind, so a device may be in use by others meanwhile; only those with a
 * {@link Plug} take it from them.
 */
public final class ProviderContract {
  private static final List<ContractCase> CASES = CaseList.all().stream().map(ContractCase::new).toList();

  private ProviderContract() {}

  /** {@return all cases in the order in which they run} */
  public static List<ContractCase> cases() {
    return CASES;
  }

  /**
   * Runs the whole contract.
   *
   * @param ends the devices
   * @param report where the results go as they come
   * @throws InterruptedException when interrupted; the report has what was done until then
   */
  public static void run(Ends ends, Report report) throws InterruptedException {
    run(ends, name -> true, report);
  }

  /**
   * Runs a part of the contract.
   *
   * @param ends the devices
   * @param which the names to run
   * @param report where the results go as they come
   * @throws InterruptedException when interrupted; the report has what was done until then
   */
  public static void run(Ends ends, Predicate<String> which, Report report) throws InterruptedException {
    report.begin(ends);
    for (ContractCase each : CASES) {
      if (which.test(each.name())) {
        report.add(each.run(ends));
      }
    }
  }
}
