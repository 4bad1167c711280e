package org.rdma4j.rdma.cm;

import org.rdma4j.ib.core.verbs.QpType;

/** Spaces of ports, which do not know of each other ({@code enum rdma_ucm_port_space}). */
public enum PortSpace {
  /** Unreliable datagrams of IP over InfiniBand. */
  IPOIB(0x0002, QpType.UD),
  /** Services by number, with queue pairs of any type. */
  IB(0x013f, null),
  /** Reliable connections. */
  TCP(0x0106, QpType.RC),
  /** Unreliable datagrams. */
  UDP(0x0111, QpType.UD);

  private static final int SHIFT = 16;
  private static final int MASK = 0xffff;

  private final int number;
  private final QpType qpType;

  PortSpace(int number, QpType qpType) {
    this.number = number;
    this.qpType = qpType;
  }

  /** {@return the number in service ids} */
  public int number() {
    return number;
  }

  /** {@return the type of its queue pairs; null for IB, which has all} */
  public QpType qpType() {
    return qpType;
  }

  /**
   * The service id of a port ({@code rdma_get_service_id}).
   *
   * @param port 0 to 65535
   * @return what a request asks for
   */
  public long serviceId(int port) {
    return (long) number << SHIFT | port & MASK;
  }

  /**
   * The space that a service id is of.
   *
   * @param serviceId what a request asks for
   * @return the space, or null for services that are of none
   */
  public static PortSpace of(long serviceId) {
    for (PortSpace each : values()) {
      if (serviceId >>> SHIFT == each.number) {
        return each;
      }
    }
    return null;
  }
}
