package org.rdma4j.rxe;

import java.io.IOException;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import org.rdma4j.ib.core.verbs.Netdev;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.address.MacAddress;

/** What the port wants to know of its network interface. */
final class PortNetdev {
  private static final Path SYSFS = Path.of("/sys/class/net");
  private static final int MAC_BYTES = 6;
  private static final int IFF_UP = 1;
  private static final int DEFAULT_MEGABITS = 1000;

  private PortNetdev() {}

  /** The interface now, or null when there is none of the name. */
  static Netdev find(String name) {
    try {
      NetworkInterface found = NetworkInterface.getByName(name);
      if (found == null) {
        return null;
      }
      byte[] mac = found.getHardwareAddress();
      return new Netdev(
          name,
          found.getIndex(),
          found.isUp(),
          found.getMTU(),
          mac == null || mac.length != MAC_BYTES ? null : MacAddress.of(mac));
    } catch (SocketException e) {
      return null;
    }
  }

  /** Addresses of the interface now. */
  static List<Gid> addresses(String name) {
    try {
      NetworkInterface found = NetworkInterface.getByName(name);
      return found == null
          ? List.of()
          : Collections.list(found.getInetAddresses()).stream().map(Gid::of).filter(gid -> !gid.isMulticast()).toList();
    } catch (SocketException e) {
      return List.of();
    }
  }

  static boolean isVlan(String name) {
    return read(name, "uevent").lines().anyMatch("DEVTYPE=vlan"::equals);
  }

  static boolean isAdministrativelyUp(String name) {
    String flags = read(name, "flags");
    return flags.startsWith("0x") && (Integer.parseInt(flags.substring(2), 16) & IFF_UP) != 0;
  }

  /** Speed in megabits per second; 1000 where the interface does not say ({@code core/verbs.c:ib_get_eth_speed}). */
  static int speedMegabits(String name) {
    try {
      int speed = Integer.parseInt(read(name, "speed"));
      return speed > 0 ? speed : DEFAULT_MEGABITS;
    } catch (NumberFormatException e) {
      return DEFAULT_MEGABITS;
    }
  }

  /** An attribute in sysfs, empty when it cannot be read. */
  private static String read(String name, String attribute) {
    try {
      return Files.readString(SYSFS.resolve(name).resolve(attribute), StandardCharsets.US_ASCII).strip();
    } catch (IOException e) {
      return "";
    }
  }
}
