package org.rdma4j.roce.link;

import java.util.Locale;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Opens the UDP link that fits this system. Thread-safe. */
public final class UdpLinks {
  /**
   * System property that says which implementation {@link #open(UdpLinkConfig)} takes: the name of a {@link Kind} in
   * lower case.
   */
  public static final String KIND_PROPERTY = "org.rdma4j.roce.link.udp";

  private static final Logger LOG = LoggerFactory.getLogger(UdpLinks.class);

  private UdpLinks() {}

  /** Implementations of a UDP link. */
  public enum Kind {
    /** {@link #NATIVE} where it works, else {@link #NIO}. */
    AUTO,
    /** {@link UdpLink}. */
    NATIVE,
    /** {@link NioUdpLink}. */
    NIO
  }

  /**
   * Opens a link of the kind that {@link #KIND_PROPERTY} names, {@link Kind#AUTO} when it is not set.
   *
   * @param config the settings
   * @return a link without addresses
   * @throws LinkException as {@link #open(UdpLinkConfig, Kind)}; EINVAL when the property names no kind
   */
  public static Link open(UdpLinkConfig config) {
    String name = System.getProperty(KIND_PROPERTY, "auto");
    for (Kind kind : Kind.values()) {
      if (kind.name().toLowerCase(Locale.ROOT).equals(name)) {
        return open(config, kind);
      }
    }
    throw LinkErrno.EINVAL.exception(KIND_PROPERTY + " is " + name + ", allowed are auto, native and nio");
  }

  /**
   * Opens a link of a kind.
   *
   * @param config the settings
   * @param kind which implementation
   * @return a link without addresses
   * @throws LinkException EMFILE, ENFILE or EIO without resources; EOPNOTSUPP when {@link Kind#NATIVE} does not work
   *     here, with the reason as message or cause
   */
  public static Link open(UdpLinkConfig config, Kind kind) {
    if (kind == Kind.NIO) {
      return new NioUdpLink(config);
    }
    try {
      return openNative(config);
    } catch (LinkException e) {
      if (kind == Kind.NATIVE || e.errno() != LinkErrno.EOPNOTSUPP.number()) {
        throw e;
      }
      LOG.warn(
          "UDP through NIO: one packet a system call, and no IPv6 packets from peers that send UDP checksum 0, as Linux"
              + " rdma_rxe and RDMA network cards do ({})",
          e.getMessage());
      return new NioUdpLink(config);
    }
  }

  private static Link openNative(UdpLinkConfig config) {
    try {
      return new UdpLink(config);
    } catch (LinkageError | IllegalCallerException | UnsupportedOperationException e) {
      // Native access denied to this code, or a C library without one of the functions.
      throw LinkErrno.EOPNOTSUPP.exception("system calls cannot be made from here: " + e, e);
    }
  }
}
