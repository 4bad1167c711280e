package org.rdma4j.roce.link;

import java.util.Objects;

/**
 * The settings of a UDP link; immutable, made from {@link #DEFAULT} by changing one at a time.
 *
 * @param port UDP port to receive on and send to, 1 to 65535; 4791 for RoCEv2 (RoCEv2 annex A17.3.2)
 * @param icrcCheck how received packets are checked
 * @param receiveBufferBytes socket receive buffer asked for, in bytes; the system may give less without privileges
 * @param sendBufferBytes socket send buffer asked for, in bytes; the system may give less without privileges
 * @param transmitBytes memory for packets committed and not yet flushed, in bytes, at least 131072
 * @param segmentation whether several packets may go to the kernel as one datagram to be split ({@code UDP_SEGMENT})
 * @param coalescing whether several packets may come from the kernel as one datagram ({@code UDP_GRO})
 * @param networkInterface name of the interface that link-local addresses belong to, or null to look for one that has
 *     the address
 */
public record UdpLinkConfig(
    int port,
    IcrcCheck icrcCheck,
    int receiveBufferBytes,
    int sendBufferBytes,
    int transmitBytes,
    boolean segmentation,
    boolean coalescing,
    String networkInterface) {

  /** The UDP port of RoCEv2. */
  public static final int ROCE_PORT = 4791;

  /** Room for several bursts of 64 KiB, and little enough to stay in the second-level cache. */
  private static final int DEFAULT_TRANSMIT_BYTES = 256 * 1024;

  private static final int MIN_TRANSMIT_BYTES = 128 * 1024;
  private static final int DEFAULT_SOCKET_BUFFER = 16 * 1024 * 1024;

  /** Port 4791, {@link IcrcCheck#RECOVER}, 16 MiB socket buffers, offloads where the system has them. */
  public static final UdpLinkConfig DEFAULT =
      new UdpLinkConfig(
          ROCE_PORT,
          IcrcCheck.RECOVER,
          DEFAULT_SOCKET_BUFFER,
          DEFAULT_SOCKET_BUFFER,
          DEFAULT_TRANSMIT_BYTES,
          true,
          true,
          null);

  /**
   * Checks the settings.
   *
   * @throws IllegalArgumentException when a number is out of range
   */
  public UdpLinkConfig {
    Objects.requireNonNull(icrcCheck, "icrcCheck");
    require(port >= 1 && port <= 0xffff, "port", port, "1 to 65535");
    require(receiveBufferBytes > 0, "receiveBufferBytes", receiveBufferBytes, "1 or more");
    require(sendBufferBytes > 0, "sendBufferBytes", sendBufferBytes, "1 or more");
    require(transmitBytes >= MIN_TRANSMIT_BYTES, "transmitBytes", transmitBytes, "131072 or more");
  }

  private static void require(boolean holds, String name, int value, String allowed) {
    if (!holds) {
      throw new IllegalArgumentException(name + " is " + value + ", allowed is " + allowed);
    }
  }

  /**
   * Changes the UDP port.
   *
   * @param newPort 1 to 65535
   * @return settings with that port
   */
  public UdpLinkConfig withPort(int newPort) {
    return new UdpLinkConfig(
        newPort, icrcCheck, receiveBufferBytes, sendBufferBytes, transmitBytes, segmentation, coalescing,
        networkInterface);
  }

  /**
   * Changes how received packets are checked.
   *
   * @param newCheck the check
   * @return settings with that check
   */
  public UdpLinkConfig withIcrcCheck(IcrcCheck newCheck) {
    return new UdpLinkConfig(
        port, newCheck, receiveBufferBytes, sendBufferBytes, transmitBytes, segmentation, coalescing,
        networkInterface);
  }

  /**
   * Changes the sizes of the socket buffers.
   *
   * @param receiveBytes receive buffer in bytes, at least 1
   * @param sendBytes send buffer in bytes, at least 1
   * @return settings with these sizes
   */
  public UdpLinkConfig withSocketBuffers(int receiveBytes, int sendBytes) {
    return new UdpLinkConfig(
        port, icrcCheck, receiveBytes, sendBytes, transmitBytes, segmentation, coalescing, networkInterface);
  }

  /**
   * Changes the size of the transmit memory.
   *
   * @param bytes size in bytes, at least 131072
   * @return settings with that size
   */
  public UdpLinkConfig withTransmitBytes(int bytes) {
    return new UdpLinkConfig(
        port, icrcCheck, receiveBufferBytes, sendBufferBytes, bytes, segmentation, coalescing, networkInterface);
  }

  /**
   * Changes which offloads may be used.
   *
   * @param segment whether {@code UDP_SEGMENT} may be used
   * @param coalesce whether {@code UDP_GRO} may be used
   * @return settings with these offloads
   */
  public UdpLinkConfig withOffloads(boolean segment, boolean coalesce) {
    return new UdpLinkConfig(
        port, icrcCheck, receiveBufferBytes, sendBufferBytes, transmitBytes, segment, coalesce, networkInterface);
  }

  /**
   * Changes the interface that link-local addresses belong to.
   *
   * @param name the interface, or null to look for one
   * @return settings with that interface
   */
  public UdpLinkConfig withNetworkInterface(String name) {
    return new UdpLinkConfig(
        port, icrcCheck, receiveBufferBytes, sendBufferBytes, transmitBytes, segmentation, coalescing, name);
  }
}
