package org.rdma4j.ib.core.verbs;

import java.util.EnumSet;
import java.util.Set;

/** What the core may do with a port, with the kernel's bits ({@code RDMA_CORE_CAP_*}). */
public enum PortCoreCapability {
  /** Management datagrams. */
  MAD(0x00000001),
  /** Subnet management interface. */
  SMI(0x00000002),
  /** InfiniBand connection manager. */
  IB_CM(0x00000004),
  /** iWARP connection manager. */
  IW_CM(0x00000008),
  /** Subnet administration. */
  SA(0x00000010),
  /** Addresses of family AF_IB. */
  AF_IB(0x00001000),
  /** Ethernet address handles. */
  ETH_AH(0x00002000),
  /** A global route header is required. */
  GRH_REQUIRED(0x00008000),
  /** InfiniBand. */
  PROT_IB(0x00100000),
  /** RoCE version 1. */
  PROT_ROCE(0x00200000),
  /** iWARP. */
  PROT_IWARP(0x00400000),
  /** RoCE version 2. */
  PROT_ROCE_UDP_ENCAP(0x00800000),
  /** Raw packets. */
  PROT_RAW_PACKET(0x01000000),
  /** usNIC. */
  PROT_USNIC(0x02000000);

  private final int bit;

  PortCoreCapability(int bit) {
    this.bit = bit;
  }

  /** {@return the kernel's bit} */
  public int bit() {
    return bit;
  }

  /** {@return the capabilities of a RoCE version 2 port ({@code RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP})} */
  public static Set<PortCoreCapability> roceV2() {
    return EnumSet.of(PROT_ROCE_UDP_ENCAP, MAD, IB_CM, AF_IB, ETH_AH);
  }

  /** {@return the capabilities of an InfiniBand port ({@code RDMA_CORE_PORT_IBA_IB})} */
  public static Set<PortCoreCapability> infiniBand() {
    return EnumSet.of(PROT_IB, MAD, SMI, IB_CM, SA, AF_IB);
  }
}
