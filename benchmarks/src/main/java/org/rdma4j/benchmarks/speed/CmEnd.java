package org.rdma4j.benchmarks.speed;

import java.net.InetAddress;
import java.util.List;
import org.rdma4j.ib.core.internal.mad.MadLayer;
import org.rdma4j.ib.core.verbs.Context;
import org.rdma4j.rdma.cm.RdmaCm;
import org.rdma4j.rdma.cm.internal.cma.Cma;
import org.rdma4j.rdma.cm.internal.cma.Owner;
import org.rdma4j.rdma.cm.internal.device.CmDevices;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.rxe.StandaloneRxe;

/** A device with connection management and without a container, put together as the bundles do it. */
final class CmEnd implements AutoCloseable {
  final InetAddress address;
  final RdmaCm manager;
  private final StandaloneRxe device;
  private final MadLayer mads = new MadLayer();
  private final CmDevices devices = new CmDevices(mads);
  private final Context madContext;
  private final Context cmContext;

  CmEnd(String name, Gid gid) {
    address = gid.toInetAddress();
    device = new StandaloneRxe(name, gid);
    Cma cma = new Cma(devices.manager(), List::of);
    devices.follow(cma);
    madContext = device.openClient("mad");
    mads.add(madContext);
    cmContext = device.openClient("cm");
    devices.add(cmContext);
    manager = new Owner(cma, "org.rdma4j.benchmarks", each -> each);
  }

  @Override
  public void close() {
    manager.close();
    devices.remove(cmContext);
    devices.close();
    mads.remove(madContext);
    device.close();
  }
}
