package org.rdma4j.rdma.cm.internal.cma;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * What stands before the private data of a request, since the message itself knows no IP addresses (kernel: {@code
 * struct cma_hdr}; IBA annex A11).
 *
 * @param source address and port of who asks
 * @param destination address that was asked; its port is in the service id
 */
record CmaHeader(InetSocketAddress source, InetAddress destination) {
  /** Its length in bytes. */
  static final int LENGTH = 36;

  private static final byte VERSION = 0;
  private static final int IPV4 = 4;
  private static final int IPV6 = 6;
  private static final int FAMILY_SHIFT = 4;
  private static final int ADDRESS = 16;
  private static final int IPV4_PADDING = 12;

  /** The header with what the user says behind it. */
  byte[] before(byte[] userData) {
    ByteBuffer buffer = ByteBuffer.allocate(LENGTH + userData.length);
    int family = source.getAddress() instanceof Inet4Address ? IPV4 : IPV6;
    buffer.put(VERSION).put((byte) (family << FAMILY_SHIFT)).putShort((short) source.getPort());
    put(buffer, source.getAddress());
    put(buffer, destination);
    return buffer.put(userData).array();
  }

  private static void put(ByteBuffer buffer, InetAddress address) {
    byte[] bytes = address.getAddress();
    buffer.position(buffer.position() + ADDRESS - bytes.length).put(bytes);
  }

  /** Reads it, or says null of what is none: another version, family, or addresses that nobody can have. */
  static CmaHeader read(byte[] privateData) {
    ByteBuffer buffer = ByteBuffer.wrap(privateData);
    if (buffer.get() != VERSION) {
      return null;
    }
    int family = (buffer.get() & 0xff) >>> FAMILY_SHIFT;
    if (family != IPV4 && family != IPV6) {
      return null;
    }
    int port = Short.toUnsignedInt(buffer.getShort());
    InetAddress source = get(buffer, family);
    InetAddress destination = get(buffer, family);
    if (source.isAnyLocalAddress() || source.isMulticastAddress() || isBroadcast(source)) {
      return null;
    }
    return new CmaHeader(new InetSocketAddress(source, port), destination);
  }

  private static boolean isBroadcast(InetAddress address) {
    return address instanceof Inet4Address && ByteBuffer.wrap(address.getAddress()).getInt() == -1;
  }

  private static InetAddress get(ByteBuffer buffer, int family) {
    byte[] bytes = new byte[ADDRESS];
    buffer.get(bytes);
    try {
      return InetAddress.getByAddress(
          family == IPV4 ? Arrays.copyOfRange(bytes, IPV4_PADDING, ADDRESS) : bytes);
    } catch (UnknownHostException e) {
      throw new AssertionError("4 and 16 bytes are always an address", e);
    }
  }

  /** What the user said, behind the header. */
  static byte[] userData(byte[] privateData) {
    return Arrays.copyOfRange(privateData, LENGTH, privateData.length);
  }
}
