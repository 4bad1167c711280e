package org.rdma4j.mlx5.device.internal;

/** How much of everything the card has; what it advertises is made of these. */
final class Limits {
  static final int VECTORS = 32;
  static final int LOG_UAR_BYTES = 24;
  static final int FIRST_UAR = 16;
  static final int UARS = (1 << LOG_UAR_BYTES) / HostPages.PAGE;
  static final int LOG_MAX_EQ = 6;
  static final int LOG_MAX_EQ_SIZE = 13;
  static final int LOG_MAX_CQ = 16;
  static final int LOG_MAX_CQ_SIZE = 16;
  static final int LOG_MAX_QP = 16;
  static final int LOG_MAX_QP_SIZE = 15;
  static final int LOG_MAX_SRQ = 16;
  static final int LOG_MAX_SRQ_SIZE = 15;
  static final int LOG_MAX_MKEY = 18;
  /** Of 64 bytes each: eight pages, or four ranges. */
  static final int LOG_MAX_MTT = 20;
  static final int MAX_TRANSLATION_OCTOWORDS = 1 << LOG_MAX_MTT + 2;
  static final int LOG_MAX_PD = 16;
  static final int LOG_MAX_XRCD = 8;
  static final int LOG_MAX_TRANSPORT_DOMAIN = 8;
  static final int LOG_MAX_MESSAGE = 30;
  static final int LOG_MAX_READS = 7;
  static final int MAX_WQE_BYTES = 1024;
  static final int LOG_BLUE_FLAME = 9;
  static final int ROCE_ADDRESSES = 256;
  static final int LOG_COUNTER_SETS = 7;
  static final int COUNTER_SETS = 1 << LOG_COUNTER_SETS;
  static final int PKEYS = 128;
  static final int LOG_MAX_GROUPS = 13;
  static final int MAX_GROUP_MEMBERS = 240;
  /** Pages that the firmware asks for when fewer than {@link #LOW_PAGES} are free. */
  static final int MORE_PAGES = 256;
  static final int LOW_PAGES = 32;
  /** More free ones than this go back. */
  static final int HIGH_PAGES = 2048;
  static final int BOOT_PAGES = 16;
  static final int INIT_PAGES = 256;
  static final int FREQUENCY_KHZ = 1_000_000;

  private Limits() {}
}
