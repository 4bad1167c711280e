package org.rdma4j.pci;

import java.util.List;
import java.util.Optional;
import org.osgi.annotation.versioning.ProviderType;

/** The bus, as a service: what is on it, and what happens to it from outside. Safe for any thread. */
@ProviderType
public interface PciBus {
  /** {@return all functions in the order of their addresses} */
  List<PciFunction> functions();

  /**
   * Looks into a slot.
   *
   * @param address where
   * @return the function there, or empty
   */
  Optional<PciFunction> function(PciAddress address);

  /** {@return all vectors with a handler, in the order of their numbers} */
  List<PciInterrupt> interrupts();

  /**
   * Plugs a card in; returns when a driver, if one is there, has probed it.
   *
   * @param card the card
   * @param slot where, or null for the lowest free slot from 0000:03:00.0 on
   * @return the function
   * @throws PciException EEXIST when the slot is taken, EINVAL when the card's layout is impossible, ENOMEM
   */
  PciFunction plug(PciCard card, PciAddress slot);

  /**
   * Takes a card out in order: the driver gives it back while it still answers. Returns when the card has no power.
   *
   * @param address where
   * @throws PciException ENXIO when nothing is there
   */
  void unplug(PciAddress address);

  /**
   * Pulls a card out: it stops to answer at once, then the driver is told. Returns when the driver has given it back.
   *
   * @param address where
   * @throws PciException ENXIO when nothing is there
   */
  void pull(PciAddress address);

  /**
   * Reports an error of a function and lets its driver recover ({@code pcie_do_recovery}).
   *
   * @param address where
   * @param state FROZEN, where the slot is reset; or NORMAL, where the driver decides
   * @return RECOVERED, or DISCONNECT when the driver has given the function up, NONE when it has no driver
   * @throws PciException ENXIO when nothing is there, EINVAL for another state
   */
  PciErrorResult reportError(PciAddress address, PciChannelState state);
}
