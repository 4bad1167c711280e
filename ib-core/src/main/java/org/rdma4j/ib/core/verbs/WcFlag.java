package org.rdma4j.ib.core.verbs;

/** Flags of work completions ({@code enum ib_wc_flags}); combined with {@code |}. */
public final class WcFlag {
  /** The first 40 bytes of the buffer are the global route header (UD). */
  public static final int GRH = 1;

  /** The completion carries immediate data. */
  public static final int WITH_IMM = 2;

  /** The completion carries the key that was invalidated. */
  public static final int WITH_INVALIDATE = 4;

  /** IP checksums were found right. */
  public static final int IP_CSUM_OK = 8;

  /** The source MAC address is known. */
  public static final int WITH_SMAC = 0x10;

  /** The VLAN is known. */
  public static final int WITH_VLAN = 0x20;

  /** The type of the network header is known. */
  public static final int WITH_NETWORK_HDR_TYPE = 0x40;

  private WcFlag() {}
}
