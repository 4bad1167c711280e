package org.rdma4j.tools.pci;

import java.util.Map;
import java.util.Optional;
import org.rdma4j.pci.BarLayout;
import org.rdma4j.pci.PciAddress;
import org.rdma4j.pci.PciChannelState;
import org.rdma4j.pci.PciFunction;
import org.rdma4j.pci.PciIdentity;

/** A function whose configuration space is plain memory, at first that of a ConnectX-5 with its driver. */
final class ListedFunction implements PciFunction {
  private final PciAddress address;
  private final PciIdentity identity;
  private final String driver;
  final byte[] config = new byte[4096];

  ListedFunction(String address, PciIdentity identity, String driver) {
    this.address = PciAddress.parse(address);
    this.identity = identity;
    this.driver = driver;
    put(0x00, 2, identity.vendor());
    put(0x02, 2, identity.device());
    put(0x04, 2, 0x0406);
    put(0x06, 2, 0x0010);
    put(0x08, 1, identity.revision());
    put(0x09, 1, identity.classCode());
    put(0x0a, 2, identity.classCode() >> 8);
    put(0x0c, 1, 0x08);
    put(0x10, 4, 0xee00_000c);
    put(0x14, 4, 0x383f);
    put(0x2c, 2, identity.subsystemVendor());
    put(0x2e, 2, identity.subsystem());
    put(0x34, 1, 0x60);
    put(0x60, 4, 0x0002_9c10);
    put(0x9c, 4, 0x803f_4011);
    put(0xa0, 4, 0x2000);
    put(0xa4, 4, 0x3000);
    put(0x40, 4, 0x0003_0001);
  }

  static ListedFunction connectX5(String address) {
    return new ListedFunction(
        address,
        new PciIdentity(
            0x15b3, 0x1017, 0x15b3, 0x0008, 0x020000, 0, "Mellanox Technologies", "MT27800 Family [ConnectX-5]"),
        "mlx5_core");
  }

  void put(int offset, int width, int value) {
    for (int i = 0; i < width; i++) {
      config[offset + i] = (byte) (value >> 8 * i);
    }
  }

  @Override
  public PciAddress address() {
    return address;
  }

  @Override
  public PciIdentity identity() {
    return identity;
  }

  @Override
  public Optional<String> driverName() {
    return Optional.ofNullable(driver);
  }

  @Override
  public PciChannelState channelState() {
    return PciChannelState.NORMAL;
  }

  @Override
  public Map<Integer, BarLayout> bars() {
    return Map.of(0, new BarLayout(32L << 20, true, true));
  }

  @Override
  public int readConfig(int offset, int width) {
    int value = 0;
    for (int i = width - 1; i >= 0; i--) {
      value = value << 8 | config[offset + i] & 0xff;
    }
    return value;
  }

  @Override
  public void writeConfig(int offset, int width, int value) {
    put(offset, width, value);
  }
}
