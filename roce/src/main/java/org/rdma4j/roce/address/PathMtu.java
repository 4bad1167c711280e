package org.rdma4j.roce.address;

/** Path MTUs: payload bytes of one packet, with the encoding of the specification and {@code enum ibv_mtu}. */
public enum PathMtu {
  /** 256 bytes, code 1. */
  MTU_256,
  /** 512 bytes, code 2. */
  MTU_512,
  /** 1024 bytes, code 3. */
  MTU_1024,
  /** 2048 bytes, code 4. */
  MTU_2048,
  /** 4096 bytes, code 5. */
  MTU_4096;

  /**
   * Bytes rxe keeps free below the network interface's MTU for IP, UDP, transport headers and ICRC
   * (kernel sw/rxe/rxe_hdr.h, RXE_MAX_HDR_LENGTH).
   */
  public static final int HEADER_ROOM = 80;

  private static final PathMtu[] VALUES = values();

  /**
   * The MTU of an encoding.
   *
   * @param code 1 to 5
   * @return the MTU
   * @throws IllegalArgumentException (EINVAL) for another code
   */
  public static PathMtu ofCode(int code) {
    if (code < 1 || code > VALUES.length) {
      throw new IllegalArgumentException("path MTU code " + code + ": 1 (256) to 5 (4096) are defined");
    }
    return VALUES[code - 1];
  }

  /**
   * The MTU of exactly so many bytes.
   *
   * @param bytes 256, 512, 1024, 2048 or 4096
   * @return the MTU
   * @throws IllegalArgumentException (EINVAL) for another number
   */
  public static PathMtu ofBytes(int bytes) {
    for (PathMtu mtu : VALUES) {
      if (mtu.bytes() == bytes) {
        return mtu;
      }
    }
    throw new IllegalArgumentException("path MTU " + bytes + ": 256, 512, 1024, 2048 or 4096 bytes are defined");
  }

  /**
   * The largest path MTU that fits a network interface, at least 256: 1500 gives 1024, 4200 gives 4096 (kernel
   * sw/rxe/rxe.c, rxe_set_mtu).
   *
   * @param netdevMtu the interface's MTU in bytes
   * @return the port's active MTU
   */
  public static PathMtu largestFor(int netdevMtu) {
    for (int i = VALUES.length - 1; i > 0; i--) {
      if (VALUES[i].bytes() <= netdevMtu - HEADER_ROOM) {
        return VALUES[i];
      }
    }
    return MTU_256;
  }

  /**
   * Payload bytes of a full packet.
   *
   * @return 256 to 4096
   */
  public int bytes() {
    return 256 << ordinal();
  }

  /**
   * The encoding in address handles, queue pair attributes and MADs.
   *
   * @return 1 to 5
   */
  public int code() {
    return ordinal() + 1;
  }
}
