package org.rdma4j.rdma.cm.internal.device;

import java.util.List;
import java.util.Set;
import org.rdma4j.ib.core.verbs.Context;
import org.rdma4j.ib.core.verbs.CounterSet;
import org.rdma4j.ib.core.verbs.DeviceAttributes;
import org.rdma4j.ib.core.verbs.GidEntry;
import org.rdma4j.ib.core.verbs.GidTable;
import org.rdma4j.ib.core.verbs.GidType;
import org.rdma4j.ib.core.verbs.PortAttributes;
import org.rdma4j.ib.core.verbs.PortCoreCapability;
import org.rdma4j.ib.core.verbs.PortImmutable;
import org.rdma4j.ib.core.verbs.RdmaDevice;
import org.rdma4j.ib.core.verbs.ResourceTable;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.address.Guid;

/** A device of some ports, with one address that all of them have, and P_Keys 0x8001 and 0xffff. */
record FakeDevice(String name, Guid nodeGuid, Gid gid, List<Set<PortCoreCapability>> ports)
    implements RdmaDevice {
  static final int GID_INDEX = 2;
  static final int ACK_DELAY = 15;
  private static final List<Integer> PKEYS = List.of(0x8001, 0xffff);

  static FakeDevice of(int number) {
    return new FakeDevice(
        "fake" + number,
        new Guid(0xc0ffee00 + number),
        Gid.parse("::ffff:192.0.2." + number),
        List.of(PortCoreCapability.roceV2()));
  }

  @Override
  public int portCount() {
    return ports.size();
  }

  @Override
  public PortImmutable portImmutable(int port) {
    return new PortImmutable(4, PKEYS.size(), ports.get(port - 1), 256);
  }

  @Override
  public DeviceAttributes attributes() {
    return DeviceAttributes.builder().localCaAckDelay(ACK_DELAY).build();
  }

  @Override
  public GidTable gidTable(int port) {
    List<GidEntry> entries =
        List.of(
            new GidEntry(port, 0, Gid.parse("fe80::1"), GidType.ROCE_V2, "lo"),
            new GidEntry(port, 1, gid, GidType.ROCE_V1, "lo"),
            new GidEntry(port, GID_INDEX, gid, GidType.ROCE_V2, "lo"));
    return new GidTable() {
      @Override
      public int size() {
        return entries.size();
      }

      @Override
      public GidEntry entry(int index) {
        return entries.get(index);
      }

      @Override
      public GidEntry find(Gid wanted) {
        return entries.stream().filter(each -> each.gid().equals(wanted)).findFirst().orElse(null);
      }

      @Override
      public List<GidEntry> entries() {
        return entries;
      }
    };
  }

  @Override
  public int pkey(int port, int index) {
    return PKEYS.get(index);
  }

  @Override
  public int findPkey(int port, int pkey) {
    return PKEYS.indexOf(pkey);
  }

  @Override
  public int index() {
    return 0;
  }

  @Override
  public String driver() {
    return "fake";
  }

  @Override
  public PortAttributes port(int port) {
    throw new UnsupportedOperationException();
  }

  @Override
  public String netdev(int port) {
    throw new UnsupportedOperationException();
  }

  @Override
  public CounterSet counters(int port) {
    throw new UnsupportedOperationException();
  }

  @Override
  public Context open() {
    throw new UnsupportedOperationException();
  }

  @Override
  public Context open(String comm) {
    throw new UnsupportedOperationException();
  }

  @Override
  public ResourceTable resources() {
    throw new UnsupportedOperationException();
  }
}
