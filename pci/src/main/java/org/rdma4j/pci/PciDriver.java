package org.rdma4j.pci;

import java.util.List;
import org.osgi.annotation.versioning.ConsumerType;

/**
 * A driver ({@code struct pci_driver}). A bundle registers it as a service; the bus probes every function that matches,
 * now and later, and removes the driver from its functions before the unregistration returns. For one function the
 * calls come one after the other, on whatever thread caused them.
 */
@ConsumerType
public interface PciDriver {
  /** {@return the driver's name, as {@code lspci} shows it} */
  String name();

  /** {@return the functions that it drives} */
  List<PciMatch> matches();

  /**
   * Takes a function over. When this throws, the function stays without a driver, and the bus takes back what was not
   * given back.
   *
   * @param device the function
   */
  void probe(PciDevice device);

  /**
   * Gives a function back: the driver goes, or the card does. After surprise removal the card does not answer any more
   * ({@link PciDevice#channelState}). What the driver still holds then is named in the log and taken from it.
   *
   * @param device the function
   */
  void remove(PciDevice device);

  /**
   * The host goes down: the function is to be quiet, no more.
   *
   * @param device the function
   */
  default void shutdown(PciDevice device) {
    remove(device);
  }

  /**
   * An error was reported for the function ({@code error_detected}).
   *
   * @param device the function
   * @param state how bad it is
   * @return what is to be done
   */
  default PciErrorResult errorDetected(PciDevice device, PciChannelState state) {
    return PciErrorResult.NONE;
  }

  /**
   * The slot was reset ({@code slot_reset}).
   *
   * @param device the function
   * @return RECOVERED, or DISCONNECT
   */
  default PciErrorResult slotReset(PciDevice device) {
    return PciErrorResult.NONE;
  }

  /**
   * Traffic may flow again ({@code resume}).
   *
   * @param device the function
   */
  default void resume(PciDevice device) {}
}
