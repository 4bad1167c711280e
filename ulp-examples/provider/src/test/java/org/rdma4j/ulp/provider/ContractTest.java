package org.rdma4j.ulp.provider;

import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.rdma4j.ib.core.verbs.DeviceControl;
import org.rdma4j.ib.core.verbs.GidType;
import org.rdma4j.ib.core.verbs.RdmaDevice;
import org.rdma4j.provider.contract.Ends;
import org.rdma4j.provider.contract.Plug;
import org.rdma4j.provider.contract.Report;
import org.rdma4j.provider.contract.junit.ContractTests;
import org.rdma4j.roce.address.Gid;
import org.slf4j.LoggerFactory;

/** What every provider promises, between two devices of this one, without a container. */
class ContractTest {
  private static final Report REPORT = new Report();
  private static final Wire WIRE = new Wire();
  private static DeviceControl one = register("loop0", 1);
  private static final DeviceControl OTHER = register("loop1", 2);

  /** What the core does when the provider registers its service. */
  private static DeviceControl register(String name, int host) {
    Gid gid = Gid.ofIpv4(127 << 24 | host);
    DeviceControl control = new LoopDevice(name, "lo", gid, WIRE).bind();
    control.load(name, 0);
    control.addGid(1, gid, GidType.ROCE_V2, "lo", false);
    control.enable();
    control.accept();
    return control;
  }

  /** What the core does when the service goes. */
  private static void remove(DeviceControl control) {
    control.refuse();
    control.disassociate(5_000);
    control.destroyLeft(5_000);
    control.release();
  }

  @AfterAll
  static void end() {
    remove(one);
    remove(OTHER);
    LoggerFactory.getLogger(ContractTest.class).info("{}", REPORT.summary());
  }

  @TestFactory
  Stream<DynamicTest> contract() {
    Plug plug =
        new Plug() {
          @Override
          public void takeOut() {
            remove(one);
          }

          @Override
          public void putBack() {
            one = register("loop0", 1);
          }
        };
    return ContractTests.of(Ends.of(() -> device(one), () -> device(OTHER)).plug(plug), REPORT);
  }

  private static RdmaDevice device(DeviceControl control) {
    return control.view("org.example.test");
  }
}
