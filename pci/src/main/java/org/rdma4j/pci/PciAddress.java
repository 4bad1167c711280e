package org.rdma4j.pci;

import java.util.Comparator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Where a function is: domain, bus, device, function, written {@code 0000:03:00.0}.
 *
 * @param domain 0 to 0xffff
 * @param bus 0 to 0xff
 * @param device 0 to 0x1f
 * @param function 0 to 7
 */
public record PciAddress(int domain, int bus, int device, int function) implements Comparable<PciAddress> {
  private static final Pattern FORM =
      Pattern.compile("(?:([0-9a-fA-F]{1,4}):)?([0-9a-fA-F]{1,2}):([01]?[0-9a-fA-F])\\.([0-7])");
  private static final Comparator<PciAddress> ORDER =
      Comparator.comparingInt(PciAddress::domain)
          .thenComparingInt(PciAddress::bus)
          .thenComparingInt(PciAddress::device)
          .thenComparingInt(PciAddress::function);

  /** Checks the ranges; EINVAL. */
  public PciAddress {
    if ((domain & ~0xffff) != 0 || (bus & ~0xff) != 0 || (device & ~0x1f) != 0 || (function & ~7) != 0) {
      throw new PciException(
          PciErrno.EINVAL,
          "PCI address %x:%x:%x.%x: allowed are domain 0-ffff, bus 0-ff, device 0-1f, function 0-7"
              .formatted(domain, bus, device, function));
    }
  }

  /**
   * Reads an address.
   *
   * @param text {@code [domain:]bus:device.function}, all hexadecimal; the domain is 0 when it is left out
   * @return the address
   * @throws PciException EINVAL when the text has another form
   */
  public static PciAddress parse(String text) {
    Matcher matcher = FORM.matcher(text);
    if (!matcher.matches()) {
      throw new PciException(
          PciErrno.EINVAL, "PCI address \"" + text + "\": expected [domain:]bus:device.function, as 0000:03:00.0");
    }
    int domain = matcher.group(1) == null ? 0 : Integer.parseInt(matcher.group(1), 16);
    return new PciAddress(
        domain,
        Integer.parseInt(matcher.group(2), 16),
        Integer.parseInt(matcher.group(3), 16),
        Integer.parseInt(matcher.group(4), 16));
  }

  /** {@return without the domain, as {@code lspci} prints it where there is one domain only: {@code 03:00.0}} */
  public String toShortString() {
    return "%02x:%02x.%x".formatted(bus, device, function);
  }

  @Override
  public String toString() {
    return "%04x:%02x:%02x.%x".formatted(domain, bus, device, function);
  }

  @Override
  public int compareTo(PciAddress other) {
    return ORDER.compare(this, other);
  }
}
