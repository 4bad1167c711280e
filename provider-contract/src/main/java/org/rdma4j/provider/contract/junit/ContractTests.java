package org.rdma4j.provider.contract.junit;

import java.util.stream.Stream;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.DynamicTest;
import org.rdma4j.provider.contract.Ends;
import org.rdma4j.provider.contract.Outcome;
import org.rdma4j.provider.contract.ProviderContract;
import org.rdma4j.provider.contract.Report;
import org.rdma4j.provider.contract.Result;

/** The suite for a {@code @TestFactory}: one dynamic test for each case. */
public final class ContractTests {
  private ContractTests() {}

  /**
   * Makes the tests.
   *
   * @param ends the devices, there from now on
   * @param report where the results go too
   * @return a test for each case; one that is skipped is aborted with the reason
   */
  public static Stream<DynamicTest> of(Ends ends, Report report) {
    report.begin(ends);
    return ProviderContract.cases().stream()
        .map(
            each ->
                DynamicTest.dynamicTest(
                    each.name(),
                    () -> {
                      Result result = each.run(ends);
                      report.add(result);
                      tell(result);
                    }));
  }

  /**
   * Ends a test as a result says.
   *
   * @param result how a case ended
   */
  public static void tell(Result result) {
    if (result.outcome() == Outcome.SKIP) {
      Assumptions.abort(result.detail());
    } else if (result.outcome() == Outcome.FAIL) {
      Assertions.fail(result.promise() + " But: " + result.detail());
    }
  }
}
