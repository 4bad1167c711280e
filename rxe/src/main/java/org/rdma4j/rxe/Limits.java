package org.rdma4j.rxe;

/** Every limit of the device in one place, with the kernel's values ({@code rxe_param.h}). */
final class Limits {
  /** Scatter/gather elements of a send, a receive and a READ. */
  static final int MAX_SGE = 32;
  /** Bytes of inline data: what fits where the scatter/gather list would be. */
  static final int MAX_INLINE_DATA = MAX_SGE * 16;
  /** Work requests in a queue, also a shared one. */
  static final int MAX_WR = 1 << 20;
  /** Entries of a completion queue. */
  static final int MAX_CQE = (1 << 15) - 1;
  /** Scatter/gather elements of a shared receive. */
  static final int MAX_SRQ_SGE = 27;
  /** Outstanding READs and atomics of a queue pair, in both directions. */
  static final int MAX_RD_ATOMIC = 128;
  /** The same of all queue pairs together. */
  static final int MAX_RES_RD_ATOMIC = 0x3f000;
  /** Longest message in bytes. */
  static final int MAX_MESSAGE_SIZE = 0x80_0000;

  /** Queue pair numbers below are reserved; 16 is the kernel's general services queue pair. */
  static final int FIRST_QP = 17;
  /** Number of the general services queue pair on the wire. */
  static final int GSI_QP = 1;
  static final int LAST_INDEX = 1 << 20;
  static final int MAX_QP = LAST_INDEX - 16;
  static final int MAX_CQ = LAST_INDEX;
  static final int MAX_PD = LAST_INDEX;
  static final int LAST_AH = (1 << 15) - 1;
  static final int FIRST_SRQ = 0x2_0001;
  static final int MAX_SRQ = LAST_INDEX - FIRST_SRQ;
  /** XRC domains; the kernel's driver has none. */
  static final int MAX_XRCD = 1 << 16;
  /** Regions and windows share the key space; a window's number lies in the upper half. */
  static final int LAST_MR = LAST_INDEX / 2;
  static final int MAX_MR = LAST_MR - 1;
  static final int MAX_MW = LAST_INDEX - LAST_MR - 1;
  static final int FIRST_MW = LAST_MR + 1;
  static final int LAST_MW = LAST_MR + MAX_MW;

  static final int GID_TABLE_LENGTH = 1024;
  static final int MAD_SIZE = 256;
  static final int MAX_MCAST_GROUPS = 8192;
  static final int MAX_MCAST_QP_ATTACH = 56;
  static final int MAX_TOTAL_MCAST_QP_ATTACH = 0x7_0000;
  static final int MAX_FAST_REG_PAGES = 512;
  static final int MAX_PKEYS = 64;
  static final int LOCAL_CA_ACK_DELAY = 15;

  private Limits() {}
}
