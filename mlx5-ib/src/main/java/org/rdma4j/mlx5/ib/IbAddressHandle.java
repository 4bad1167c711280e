package org.rdma4j.mlx5.ib;

import org.rdma4j.ib.core.verbs.AddressHandle;
import org.rdma4j.ib.core.verbs.AhAttributes;
import org.rdma4j.ib.core.verbs.ObjectContext;

/**
 * An address vector, ready to be written into a datagram segment (kernel: {@code struct mlx5_ib_ah}, {@code ah.c}). The
 * card knows nothing of it.
 */
final class IbAddressHandle extends AddressHandle {
  private static final int GRH = 1 << 30;
  private static final int SGID_SHIFT = 20;
  private static final int CLASS_SHIFT = 8;
  private static final int RATE_SHIFT = 28;
  private static final int PRIORITY_SHIFT = 25;
  private static final int FLOW_MASK = 0xf_ffff;
  /** Rates of a packet are counted from 5 on in the card's numbers. */
  private static final int RATE_OFFSET = 5;

  private final ConnectxDevice device;
  private final int rateAndPort;
  private final int classAndHops;
  private final int flags;
  private final long gidHigh;
  private final long gidLow;

  IbAddressHandle(ObjectContext owner, ConnectxDevice device, AhAttributes attributes) {
    super(owner);
    this.device = device;
    int rate = attributes.staticRate() == 0 ? 0 : attributes.staticRate() + RATE_OFFSET;
    this.rateAndPort =
        (rate & 0xf) << RATE_SHIFT
            | (attributes.serviceLevel() & 7) << PRIORITY_SHIFT
            | device.sourcePort(attributes.flowLabel());
    this.classAndHops = (attributes.trafficClass() & 0xff) << CLASS_SHIFT | attributes.hopLimit() & 0xff;
    this.flags =
        GRH | (attributes.sourceGid().index() & 0xff) << SGID_SHIFT | attributes.flowLabel() & FLOW_MASK;
    this.gidHigh = attributes.destinationGid().hi();
    this.gidLow = attributes.destinationGid().lo();
  }

  ConnectxDevice device() {
    return device;
  }

  /** Word 0x0c of the segment: rate, priority, UDP source port. */
  int rateAndPort() {
    return rateAndPort;
  }

  /** Word 0x18: traffic class and hop limit. */
  int classAndHops() {
    return classAndHops;
  }

  /** Word 0x1c: that there is a global route, index of the source, flow label. */
  int flags() {
    return flags;
  }

  long gidHigh() {
    return gidHigh;
  }

  long gidLow() {
    return gidLow;
  }

  @Override
  protected void doDestroy() {
    // Nobody but its owner has it.
  }
}
