package org.rdma4j.it.container;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.rdma4j.ib.core.verbs.Access;
import org.rdma4j.ib.core.verbs.CompletionQueue;
import org.rdma4j.ib.core.verbs.CqInitAttributes;
import org.rdma4j.ib.core.verbs.DeviceAttributes;
import org.rdma4j.ib.core.verbs.DeviceLimit;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.IbDevice;
import org.rdma4j.ib.core.verbs.LinkLayer;
import org.rdma4j.ib.core.verbs.MemoryRegion;
import org.rdma4j.ib.core.verbs.NodeType;
import org.rdma4j.ib.core.verbs.ObjectContext;
import org.rdma4j.ib.core.verbs.PortAttributes;
import org.rdma4j.ib.core.verbs.PortCoreCapability;
import org.rdma4j.ib.core.verbs.PortImmutable;
import org.rdma4j.ib.core.verbs.PortState;
import org.rdma4j.ib.core.verbs.ProtectionDomain;
import org.rdma4j.ib.core.verbs.QpInitAttributes;
import org.rdma4j.ib.core.verbs.QueuePair;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.roce.address.Guid;

/** A device of a provider that this project does not know: it has protection domains and nothing else. */
final class VendorDevice extends IbDevice {
  private final AtomicInteger domains = new AtomicInteger();
  private final AtomicInteger released = new AtomicInteger();

  VendorDevice(String name) {
    super(name);
  }

  /** How many protection domains there are now. */
  int domains() {
    return domains.get();
  }

  /** How often the core has called release. */
  int released() {
    return released.get();
  }

  @Override
  protected String linkType() {
    return "vendor";
  }

  @Override
  protected DeviceAttributes queryDevice() {
    return DeviceAttributes.builder()
        .nodeType(NodeType.CA)
        .nodeGuid(new Guid(0x0200_00ff_fe00_0001L))
        .portCount(1)
        .completionVectors(1)
        .limit(DeviceLimit.MAX_PD, 8)
        .build();
  }

  @Override
  protected PortAttributes queryPort(int port) {
    return PortAttributes.builder()
        .state(PortState.ACTIVE)
        .linkLayer(LinkLayer.ETHERNET)
        .gidTableLength(2)
        .pkeyTableLength(1)
        .build();
  }

  @Override
  protected PortImmutable portImmutable(int port) {
    return new PortImmutable(2, 1, Set.of(PortCoreCapability.PROT_ROCE_UDP_ENCAP), 0);
  }

  @Override
  protected void release() {
    released.incrementAndGet();
  }

  @Override
  protected ProtectionDomain createPd(ObjectContext owner) {
    domains.incrementAndGet();
    return new ProtectionDomain(owner) {
      @Override
      protected void doDestroy() {
        domains.decrementAndGet();
      }
    };
  }

  @Override
  protected CompletionQueue createCq(ObjectContext owner, CqInitAttributes attributes) {
    throw unsupported();
  }

  @Override
  protected QueuePair createQp(ObjectContext owner, QpInitAttributes attributes) {
    throw unsupported();
  }

  @Override
  protected MemoryRegion registerMr(ObjectContext owner, MemorySegment segment, long iova, Set<Access> access) {
    throw unsupported();
  }

  private VerbsException unsupported() {
    return new VerbsException(Errno.EOPNOTSUPP, name() + " has protection domains only");
  }
}
