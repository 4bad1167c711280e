package org.rdma4j.rdma.cm.message;

import org.rdma4j.ib.core.mad.MadBytes;
import org.rdma4j.ib.core.mad.MadField;

/** DREQ: asks to end a connection (kernel: {@code ibta_vol1_c12.h}). */
public final class Dreq {
  static final Layout LAYOUT = new Layout("DREQ", 0x0015);

  public static final MadField LOCAL_COMM_ID = LAYOUT.bits("local comm id", 0, 0, 32);
  public static final MadField REMOTE_COMM_ID = LAYOUT.bits("remote comm id", 4, 0, 32);
  public static final MadField REMOTE_QPN_EECN = LAYOUT.bits("remote qpn eecn", 8, 0, 24);
  public static final MadBytes PRIVATE_DATA = LAYOUT.bytes("private data", 12, 220);

  private Dreq() {}
}
