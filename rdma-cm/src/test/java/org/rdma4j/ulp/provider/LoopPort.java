package org.rdma4j.ulp.provider;

import org.rdma4j.ib.core.verbs.DeviceControl;
import org.rdma4j.ib.core.verbs.GidType;
import org.rdma4j.ib.core.verbs.RdmaDevice;
import org.rdma4j.roce.address.Gid;

/**
 * A device in memory without a container, brought through the steps that the core takes it through. In the provider's
 * package, because the provider exports nothing.
 */
public final class LoopPort implements AutoCloseable {
  private static final long PATIENCE_MILLIS = 5_000;

  private final DeviceControl control;
  private final Gid gid;

  /** Makes a device with the address 127.0.0.0 plus a number, which reaches itself. */
  public LoopPort(String name, int host) {
    gid = Gid.ofIpv4(127 << 24 | host);
    control = new LoopDevice(name, "lo", gid, new Wire()).bind();
    control.load(name, 0);
    control.addGid(1, gid, GidType.ROCE_V2, "lo", false);
    control.enable();
    control.accept();
  }

  public RdmaDevice device() {
    return control.view("org.example.test");
  }

  public Gid gid() {
    return gid;
  }

  /** What the core does when the service goes. */
  @Override
  public void close() {
    control.refuse();
    control.disassociate(PATIENCE_MILLIS);
    control.destroyLeft(PATIENCE_MILLIS);
    control.release();
  }
}
