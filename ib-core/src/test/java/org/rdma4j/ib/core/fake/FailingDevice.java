package org.rdma4j.ib.core.fake;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import java.util.function.Supplier;
import org.rdma4j.ib.core.verbs.Access;
import org.rdma4j.ib.core.verbs.AddressHandle;
import org.rdma4j.ib.core.verbs.AhAttributes;
import org.rdma4j.ib.core.verbs.CompletionQueue;
import org.rdma4j.ib.core.verbs.CqInitAttributes;
import org.rdma4j.ib.core.verbs.DeviceAttributes;
import org.rdma4j.ib.core.verbs.GidEntry;
import org.rdma4j.ib.core.verbs.MemoryRegion;
import org.rdma4j.ib.core.verbs.MemoryWindow;
import org.rdma4j.ib.core.verbs.MwType;
import org.rdma4j.ib.core.verbs.ObjectContext;
import org.rdma4j.ib.core.verbs.PortAttributes;
import org.rdma4j.ib.core.verbs.PortImmutable;
import org.rdma4j.ib.core.verbs.ProtectionDomain;
import org.rdma4j.ib.core.verbs.QpInitAttributes;
import org.rdma4j.ib.core.verbs.QueuePair;
import org.rdma4j.ib.core.verbs.SharedReceiveQueue;
import org.rdma4j.ib.core.verbs.SrqInitAttributes;
import org.rdma4j.roce.address.Gid;

/** A provider that fails in the n-th hook that the core calls from now on; destruction fails after it was done. */
public final class FailingDevice extends FakeDevice {
  private int countdown;
  private String failed;
  private Supplier<? extends Throwable> failure;

  public FailingDevice(String nameOrPattern) {
    super(nameOrPattern);
  }

  /** Fails in the n-th hook from now on, and in no other. */
  public synchronized void failAt(int n, Supplier<? extends Throwable> with) {
    this.countdown = n;
    this.failure = with;
    this.failed = null;
  }

  /** {@return the hook that failed, or null while none has} */
  public synchronized String failed() {
    return failed;
  }

  private synchronized void step(String hook) {
    if (countdown > 0 && --countdown == 0) {
      failed = hook;
      sneak(failure.get());
    }
  }

  @SuppressWarnings("unchecked")
  private static <T extends Throwable> void sneak(Throwable e) throws T {
    throw (T) e;
  }

  @Override
  void gone(String what) {
    super.gone(what);
    step(what);
  }

  @Override
  protected String linkType() {
    step("linkType");
    return super.linkType();
  }

  @Override
  protected DeviceAttributes queryDevice() {
    step("queryDevice");
    return super.queryDevice();
  }

  @Override
  protected PortAttributes queryPort(int port) {
    step("queryPort");
    return super.queryPort(port);
  }

  @Override
  protected PortImmutable portImmutable(int port) {
    step("portImmutable");
    return super.portImmutable(port);
  }

  @Override
  protected int queryPkey(int port, int index) {
    step("queryPkey");
    return super.queryPkey(port, index);
  }

  @Override
  protected String portNetdev(int port) {
    step("portNetdev");
    return super.portNetdev(port);
  }

  @Override
  protected Gid portAddressFilter(int port) {
    step("portAddressFilter");
    return super.portAddressFilter(port);
  }

  @Override
  protected void addGid(GidEntry entry) {
    step("addGid");
    super.addGid(entry);
  }

  @Override
  protected void removeGid(GidEntry entry) {
    super.removeGid(entry);
    step("removeGid");
  }

  @Override
  protected void enable() {
    step("enable");
    super.enable();
  }

  @Override
  protected void release() {
    super.release();
    step("release");
  }

  @Override
  protected ProtectionDomain createPd(ObjectContext owner) {
    step("createPd");
    return super.createPd(owner);
  }

  @Override
  protected CompletionQueue createCq(ObjectContext owner, CqInitAttributes attributes) {
    step("createCq");
    return super.createCq(owner, attributes);
  }

  @Override
  protected QueuePair createQp(ObjectContext owner, QpInitAttributes attributes) {
    step("createQp");
    return super.createQp(owner, attributes);
  }

  @Override
  protected MemoryRegion registerMr(ObjectContext owner, MemorySegment segment, long iova, Set<Access> access) {
    step("registerMr");
    return super.registerMr(owner, segment, iova, access);
  }

  @Override
  protected MemoryRegion allocateMr(ObjectContext owner, int maxPages) {
    step("allocateMr");
    return super.allocateMr(owner, maxPages);
  }

  @Override
  protected MemoryWindow allocateMw(ObjectContext owner, MwType type) {
    step("allocateMw");
    return super.allocateMw(owner, type);
  }

  @Override
  protected SharedReceiveQueue createSrq(ObjectContext owner, SrqInitAttributes attributes) {
    step("createSrq");
    return super.createSrq(owner, attributes);
  }

  @Override
  protected AddressHandle createAh(ObjectContext owner, AhAttributes attributes) {
    step("createAh");
    return super.createAh(owner, attributes);
  }
}
