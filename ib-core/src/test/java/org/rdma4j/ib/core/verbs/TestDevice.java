package org.rdma4j.ib.core.verbs;

import org.rdma4j.ib.core.fake.FakeCq;
import org.rdma4j.ib.core.fake.FakeDevice;
import org.rdma4j.ib.core.fake.FakeQp;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.address.PathMtu;

/** A fake device brought up as the registry does it, with a link-local, an IPv4 and an IPv6 GID. */
final class TestDevice implements AutoCloseable {
  static final Gid PEER = Gid.parse("::ffff:192.0.2.9");

  final FakeDevice provider = new FakeDevice("fake0");
  final DeviceControl control = provider.bind();
  final RdmaDevice device;
  final Context context;

  TestDevice() {
    control.load("fake0", 0);
    control.addGid(1, Gid.parse("fe80::5054:ff:fe00:201"), GidType.ROCE_V2, "eth0", true);
    control.addGid(1, Gid.parse("::ffff:192.0.2.2"), GidType.ROCE_V2, "eth0", false);
    control.addGid(1, Gid.parse("2001:db8::2"), GidType.ROCE_V2, "eth0", false);
    control.enable();
    control.accept();
    device = control.view("org.example.consumer");
    context = device.open("test");
  }

  ProtectionDomain pd() {
    return context.allocatePd();
  }

  FakeCq cq() {
    return (FakeCq) context.createCq(16, null, 0);
  }

  FakeQp qp(ProtectionDomain pd, QpType type) {
    FakeCq cq = cq();
    return (FakeQp) pd.createQp(new QpInitAttributes(type).sendCq(cq).recvCq(cq));
  }

  static QpAttributes toInit() {
    return new QpAttributes().state(QpState.INIT).pkeyIndex(0).port(1).access(Access.REMOTE_WRITE);
  }

  static QpAttributes toRtr() {
    return new QpAttributes()
        .state(QpState.RTR)
        .addressVector(new AhAttributes(1, PEER, 1))
        .pathMtu(PathMtu.MTU_1024)
        .destQpNumber(18)
        .rqPsn(0x123456)
        .maxDestRdAtomic(1)
        .minRnrTimer(12);
  }

  static QpAttributes toRts() {
    return new QpAttributes().state(QpState.RTS).timeout(14).retryCount(7).rnrRetry(7).sqPsn(1).maxRdAtomic(1);
  }

  /** Steps 1, 3, 4 and 5 of the removal. */
  void remove() {
    control.refuse();
    control.disassociate(5_000);
    control.destroyLeft(5_000);
    control.release();
  }

  @Override
  public void close() {
    remove();
  }
}
