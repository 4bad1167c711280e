package org.rdma4j.mlx5.ib;

import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.rdma4j.ib.core.verbs.RdmaDevice;
import org.rdma4j.provider.contract.Ends;
import org.rdma4j.provider.contract.Plug;
import org.rdma4j.provider.contract.Report;
import org.rdma4j.provider.contract.junit.ContractTests;
import org.slf4j.LoggerFactory;

/** What every provider promises, between two cards, one of which is pulled out of its slot. */
class ContractTest {
  private static final Report REPORT = new Report();
  private static TestHost one;
  private static TestHost other;

  @BeforeAll
  static void plug() {
    one = new TestHost();
    other = new TestHost();
  }

  @AfterAll
  static void unplug() {
    one.close();
    other.close();
    LoggerFactory.getLogger(ContractTest.class).info("{}", REPORT.summary());
  }

  @TestFactory
  Stream<DynamicTest> contract() {
    Plug slot =
        new Plug() {
          @Override
          public void takeOut() {
            one.pull();
          }

          @Override
          public void putBack() {
            one.close();
            one = new TestHost();
          }
        };
    return ContractTests.of(Ends.of(() -> device(one), () -> device(other)).plug(slot), REPORT);
  }

  private static RdmaDevice device(TestHost host) {
    return host.control.view("org.rdma4j.test");
  }
}
