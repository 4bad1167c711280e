package org.rdma4j.mlx5.device.internal;

import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import org.rdma4j.pci.PciAddress;
import org.rdma4j.pci.PciException;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.address.MacAddress;
import org.rdma4j.roce.engine.IdleStrategy;

/** Reads the settings of a card from its configuration, whose values may be texts, and says what is wrong with it. */
final class SettingsReader {
  private static final Path SYSFS = Path.of("/sys/class/net");
  private static final int MAC_BYTES = 6;
  private static final int UNKNOWN_MEGABITS = 100_000;
  private static final long LOCAL_MAC = 0x0200_0000_0000L;

  private final Map<String, ?> properties;

  private SettingsReader(Map<String, ?> properties) {
    this.properties = properties;
  }

  /**
   * Reads the settings.
   *
   * @throws IllegalArgumentException says which value is wrong, and what is allowed
   */
  static CardSettings read(String name, Map<String, ?> properties) {
    return new SettingsReader(properties).read(name);
  }

  private CardSettings read(String name) {
    String slot = text("slot");
    if (!slot.isEmpty()) {
      checkSlot(slot);
    }
    InetAddress address = address(text("addr"));
    NetworkInterface netdev = netdev(text("netdev"), address);
    try {
      return new CardSettings(
          slot.isEmpty() ? name : slot,
          slot,
          netdev.getName(),
          address == null ? null : Gid.of(address),
          netdev.getMTU(),
          mac(netdev, address),
          megabits(netdev.getName()),
          idle(text("idle")));
    } catch (SocketException e) {
      throw new IllegalArgumentException("network interface " + netdev.getName() + " cannot be asked: " + e, e);
    }
  }

  private static void checkSlot(String slot) {
    try {
      PciAddress.parse(slot);
    } catch (PciException e) {
      throw new IllegalArgumentException("slot " + slot + ": " + e.getMessage(), e);
    }
  }

  private static InetAddress address(String text) {
    if (text.isEmpty()) {
      return null;
    }
    InetAddress address;
    try {
      address = InetAddress.ofLiteral(text);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("addr " + text + " is no IPv4 or IPv6 address", e);
    }
    if (address.isAnyLocalAddress() || address.isMulticastAddress()) {
      throw new IllegalArgumentException("addr " + text + " is no unicast address");
    }
    return address;
  }

  private static NetworkInterface netdev(String name, InetAddress address) {
    if (name.isEmpty() && address == null) {
      throw new IllegalArgumentException("a card needs a network interface or an address: netdev or addr is missing");
    }
    try {
      NetworkInterface found =
          name.isEmpty() ? NetworkInterface.getByInetAddress(address) : NetworkInterface.getByName(name);
      if (found == null && name.isEmpty() && address.isLoopbackAddress()) {
        found = NetworkInterface.getByInetAddress(InetAddress.getLoopbackAddress());
      }
      if (found == null) {
        throw new IllegalArgumentException(
            name.isEmpty()
                ? "no network interface has the address " + address.getHostAddress()
                : "there is no network interface " + name);
      }
      return found;
    } catch (SocketException e) {
      throw new IllegalArgumentException("network interfaces cannot be asked: " + e, e);
    }
  }

  /** A card of one address has a MAC address of its own, made of it: several may share an interface. */
  private static MacAddress mac(NetworkInterface netdev, InetAddress address) throws SocketException {
    byte[] hardware = netdev.getHardwareAddress();
    if (address == null && hardware != null && hardware.length == MAC_BYTES) {
      return MacAddress.of(hardware);
    }
    long low = address == null ? netdev.getIndex() : Gid.of(address).lo() & 0xffff_ffffL;
    return new MacAddress(LOCAL_MAC | low);
  }

  private static int megabits(String netdev) {
    try {
      int speed =
          Integer.parseInt(
              Files.readString(SYSFS.resolve(netdev).resolve("speed"), StandardCharsets.US_ASCII).strip());
      return speed > 0 ? speed : UNKNOWN_MEGABITS;
    } catch (IOException | NumberFormatException e) {
      return UNKNOWN_MEGABITS;
    }
  }

  private static IdleStrategy idle(String text) {
    return switch (text.toLowerCase(Locale.ROOT)) {
      case "", "backoff" -> IdleStrategy.DEFAULT;
      case "spin" -> IdleStrategy.SPIN;
      case "block" -> IdleStrategy.BLOCK;
      default -> throw new IllegalArgumentException("idle is " + text + "; allowed are spin, backoff and block");
    };
  }

  private String text(String key) {
    Object value = properties.get(key);
    return value == null ? "" : value.toString().strip();
  }
}
