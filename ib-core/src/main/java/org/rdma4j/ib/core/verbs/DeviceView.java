package org.rdma4j.ib.core.verbs;

import java.util.SortedMap;
import org.rdma4j.roce.address.Guid;

/** The device as one bundle sees it. */
final class DeviceView implements RdmaDevice {
  private final DeviceState state;
  private final String bundle;

  DeviceView(DeviceState state, String bundle) {
    this.state = state;
    this.bundle = bundle;
  }

  @Override
  public String name() {
    return state.name();
  }

  @Override
  public int index() {
    return state.index();
  }

  @Override
  public String driver() {
    return state.driver();
  }

  @Override
  public Guid nodeGuid() {
    return state.attributes().nodeGuid();
  }

  @Override
  public DeviceAttributes attributes() {
    return state.attributes();
  }

  @Override
  public int portCount() {
    return state.attributes().portCount();
  }

  @Override
  public PortAttributes port(int port) {
    return state.queryPort(port);
  }

  @Override
  public PortImmutable portImmutable(int port) {
    return state.immutable(port);
  }

  @Override
  public String netdev(int port) {
    return state.netdev(port);
  }

  @Override
  public GidTable gidTable(int port) {
    return state.gids(port);
  }

  @Override
  public int pkey(int port, int index) {
    return state.pkeys(port).get(index);
  }

  @Override
  public int findPkey(int port, int pkey) {
    return state.pkeys(port).find(pkey);
  }

  @Override
  public CounterSet counters(int port) {
    state.checkPort(port);
    return state.query(() -> state.provider().hwCounters(port), "get_hw_stats");
  }

  @Override
  public Context open() {
    return open(bundle);
  }

  @Override
  public Context open(String comm) {
    return state.open(this, bundle, comm, false);
  }

  @Override
  public SortedMap<Integer, String> vendorErrors() {
    return state.provider().vendorErrors();
  }

  @Override
  public ResourceTable resources() {
    return new ResourceSnapshots(state.tracker());
  }

  @Override
  public String toString() {
    return state.name();
  }
}
