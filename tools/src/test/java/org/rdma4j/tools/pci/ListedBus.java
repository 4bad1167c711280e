package org.rdma4j.tools.pci;

import java.util.List;
import java.util.Optional;
import org.rdma4j.pci.PciAddress;
import org.rdma4j.pci.PciBus;
import org.rdma4j.pci.PciCard;
import org.rdma4j.pci.PciChannelState;
import org.rdma4j.pci.PciErrorResult;
import org.rdma4j.pci.PciFunction;
import org.rdma4j.pci.PciInterrupt;

/** A bus on which nothing changes. */
record ListedBus(List<PciFunction> functions) implements PciBus {
  @Override
  public Optional<PciFunction> function(PciAddress address) {
    return functions.stream().filter(each -> each.address().equals(address)).findFirst();
  }

  @Override
  public List<PciInterrupt> interrupts() {
    return List.of();
  }

  @Override
  public PciFunction plug(PciCard card, PciAddress slot) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void unplug(PciAddress address) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void pull(PciAddress address) {
    throw new UnsupportedOperationException();
  }

  @Override
  public PciErrorResult reportError(PciAddress address, PciChannelState state) {
    throw new UnsupportedOperationException();
  }
}
