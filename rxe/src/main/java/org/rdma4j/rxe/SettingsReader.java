package org.rdma4j.rxe;

import java.net.InetAddress;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.engine.IdleStrategy;
import org.rdma4j.roce.link.IcrcCheck;
import org.rdma4j.roce.link.UdpLinkConfig;

/** Reads the settings of a link from its configuration, whose values may be texts, and says what is wrong with it. */
final class SettingsReader {
  private static final int MAX_NAME = 63;
  private static final int MAX_PORT = 0xffff;
  private static final int DEFAULT_SPIN_MICROS = (int) IdleStrategy.DEFAULT.polling().toNanos() / 1000;
  private static final int MAX_SPIN_MICROS = 1_000_000;

  private final Map<String, ?> properties;

  private SettingsReader(Map<String, ?> properties) {
    this.properties = properties;
  }

  /** The settings; EINVAL with the reason where something is missing or out of range. */
  static RxeSettings read(Map<String, ?> properties) {
    return new SettingsReader(properties).read();
  }

  private RxeSettings read() {
    String name = text("name");
    checkName(name);
    String netdev = text("netdev");
    if (netdev.isEmpty()) {
      throw invalid("link " + name + " names no network interface: netdev is missing");
    }
    return new RxeSettings(
        name,
        netdev,
        address(text("addr")),
        icrc(text("icrc")),
        number("udpPort", UdpLinkConfig.ROCE_PORT, 1, MAX_PORT),
        idle(text("idle"), number("spinMicros", DEFAULT_SPIN_MICROS, 0, MAX_SPIN_MICROS)),
        PortPkeys.parse(text("pkeys")));
  }

  /** {@code rxe.c:rxe_newlink} wants the final name; it has no patterns. */
  static void checkName(String name) {
    if (name == null || name.isEmpty() || name.length() > MAX_NAME || name.contains("%") || name.contains("/")) {
      throw invalid("link name \"" + name + "\": 1 to " + MAX_NAME + " characters without % and / are allowed");
    }
  }

  static Gid address(String text) {
    if (text == null || text.isEmpty()) {
      return null;
    }
    InetAddress address;
    try {
      address = InetAddress.ofLiteral(text);
    } catch (IllegalArgumentException e) {
      throw new VerbsException(Errno.EINVAL, "addr " + text + " is no IPv4 or IPv6 address", e);
    }
    if (address.isAnyLocalAddress() || address.isMulticastAddress()) {
      throw invalid("addr " + text + " is no unicast address");
    }
    return Gid.of(address);
  }

  private static IcrcCheck icrc(String text) {
    return switch (text.toLowerCase(Locale.ROOT)) {
      case "", "recover" -> IcrcCheck.RECOVER;
      case "strict" -> IcrcCheck.STRICT;
      case "off" -> IcrcCheck.OFF;
      default -> throw invalid("icrc is " + text + "; allowed are strict, recover and off");
    };
  }

  private static IdleStrategy idle(String text, int micros) {
    return switch (text.toLowerCase(Locale.ROOT)) {
      case "", "backoff" -> IdleStrategy.backOff(Duration.ofNanos(micros * 1000L));
      case "spin" -> IdleStrategy.SPIN;
      case "block" -> IdleStrategy.BLOCK;
      default -> throw invalid("idle is " + text + "; allowed are spin, backoff and block");
    };
  }

  private String text(String key) {
    Object value = properties.get(key);
    return value == null ? "" : value.toString().strip();
  }

  private int number(String key, int standard, int min, int max) {
    String text = text(key);
    if (text.isEmpty()) {
      return standard;
    }
    try {
      int number = Integer.parseInt(text);
      if (number >= min && number <= max) {
        return number;
      }
    } catch (NumberFormatException e) {
      throw new VerbsException(Errno.EINVAL, key + " is " + text + ", which is no number", e);
    }
    throw invalid(key + " is " + text + "; allowed is " + min + " to " + max);
  }

  private static VerbsException invalid(String message) {
    return new VerbsException(Errno.EINVAL, message);
  }
}
