package org.rdma4j.pci.standalone;

import java.util.List;
import java.util.Optional;
import org.rdma4j.pci.PciAddress;
import org.rdma4j.pci.PciBus;
import org.rdma4j.pci.PciCard;
import org.rdma4j.pci.PciChannelState;
import org.rdma4j.pci.PciDriver;
import org.rdma4j.pci.PciErrorResult;
import org.rdma4j.pci.PciFunction;
import org.rdma4j.pci.PciInterrupt;
import org.rdma4j.pci.PciTracer;
import org.rdma4j.pci.internal.Bus;

/** A bus of its own, without service registry: cards are plugged in, drivers added. Safe for any thread. */
public final class StandaloneBus implements PciBus, AutoCloseable {
  private final Bus bus = new Bus();

  /** Makes an empty bus. */
  public StandaloneBus() {}

  /**
   * Adds a driver; returns when it has probed what is there for it.
   *
   * @param driver the driver
   */
  public void add(PciDriver driver) {
    bus.add(driver);
  }

  /**
   * Removes a driver; returns when it has given all functions back.
   *
   * @param driver the driver
   */
  public void remove(PciDriver driver) {
    bus.remove(driver);
  }

  /**
   * Lets somebody see what passes between drivers and cards.
   *
   * @param tracer who, or null for nobody
   */
  public void trace(PciTracer tracer) {
    bus.trace(tracer);
  }

  @Override
  public List<PciFunction> functions() {
    return bus.functions();
  }

  @Override
  public Optional<PciFunction> function(PciAddress address) {
    return bus.function(address);
  }

  @Override
  public List<PciInterrupt> interrupts() {
    return bus.interrupts();
  }

  @Override
  public PciFunction plug(PciCard card, PciAddress slot) {
    return bus.plug(card, slot);
  }

  @Override
  public void unplug(PciAddress address) {
    bus.unplug(address);
  }

  @Override
  public void pull(PciAddress address) {
    bus.pull(address);
  }

  @Override
  public PciErrorResult reportError(PciAddress address, PciChannelState state) {
    return bus.reportError(address, state);
  }

  /** Takes all cards out and stops the interrupt threads. */
  @Override
  public void close() {
    bus.close();
  }
}
