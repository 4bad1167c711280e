package org.rdma4j.pci.internal;

import java.util.Map;
import java.util.Optional;
import org.rdma4j.pci.BarLayout;
import org.rdma4j.pci.MsixLayout;
import org.rdma4j.pci.PciCard;
import org.rdma4j.pci.PciHost;
import org.rdma4j.pci.PciIdentity;

/** A card with another layout. */
record ShapedCard(TestCard card, Map<Integer, BarLayout> bars, Optional<MsixLayout> msix) implements PciCard {
  @Override
  public PciIdentity identity() {
    return card.identity();
  }

  @Override
  public void plugged(PciHost host) {
    card.plugged(host);
  }

  @Override
  public void reset() {
    card.reset();
  }

  @Override
  public void unplugged() {
    card.unplugged();
  }

  @Override
  public int read(int bar, long offset) {
    return card.read(bar, offset);
  }

  @Override
  public void write(int bar, long offset, int value) {
    card.write(bar, offset, value);
  }
}
