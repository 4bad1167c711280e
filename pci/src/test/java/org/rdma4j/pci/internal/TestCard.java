package org.rdma4j.pci.internal;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.rdma4j.pci.BarLayout;
import org.rdma4j.pci.MsixLayout;
import org.rdma4j.pci.PciCard;
import org.rdma4j.pci.PciHost;
import org.rdma4j.pci.PciIdentity;

/** A card whose registers keep what is written to them. */
final class TestCard implements PciCard {
  static final long SIZE = 0x10000;
  static final int VECTORS = 8;
  static final long TABLE = 0x2000;
  static final long PENDING = 0x3000;

  final Map<Long, Integer> registers = new ConcurrentHashMap<>();
  volatile PciHost host;
  int resets;
  int losses;
  int relaxes;

  @Override
  public PciIdentity identity() {
    return new PciIdentity(0x15b3, 0x1019, 0x15b3, 0x0008, 0x020000, 0x00, "Test", "card");
  }

  @Override
  public Map<Integer, BarLayout> bars() {
    return Map.of(0, new BarLayout(SIZE, true, true));
  }

  @Override
  public Optional<MsixLayout> msix() {
    return Optional.of(new MsixLayout(VECTORS, 0, TABLE, 0, PENDING));
  }

  @Override
  public void plugged(PciHost newHost) {
    host = newHost;
  }

  @Override
  public void reset() {
    resets++;
    registers.clear();
  }

  @Override
  public void unplugged() {
    losses++;
  }

  @Override
  public boolean relax() {
    relaxes++;
    return true;
  }

  @Override
  public int read(int bar, long offset) {
    return registers.getOrDefault(offset, 0);
  }

  @Override
  public void write(int bar, long offset, int value) {
    registers.put(offset, value);
  }
}
