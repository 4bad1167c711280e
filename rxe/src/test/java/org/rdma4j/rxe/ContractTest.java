package org.rdma4j.rxe;

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

/** What every provider promises, between two devices of this one. */
class ContractTest {
  private static final Report REPORT = new Report();
  private static TestLink one;
  private static TestLink other;

  @BeforeAll
  static void open() {
    one = TestLink.open("rxe0");
    other = TestLink.open("rxe1");
  }

  @AfterAll
  static void close() {
    one.close();
    other.close();
    LoggerFactory.getLogger(ContractTest.class).info("{}", REPORT.summary());
  }

  @TestFactory
  Stream<DynamicTest> contract() {
    Plug plug =
        new Plug() {
          @Override
          public void takeOut() {
            one.remove();
          }

          @Override
          public void putBack() {
            one = TestLink.open("rxe0");
          }
        };
    return ContractTests.of(Ends.of(() -> device(one), () -> device(other)).plug(plug), REPORT);
  }

  private static RdmaDevice device(TestLink link) {
    return link.control.view("org.rdma4j.test");
  }
}
