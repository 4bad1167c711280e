package org.rdma4j.rdma.cm.message;

import org.rdma4j.ib.core.mad.MadBytes;
import org.rdma4j.ib.core.mad.MadField;

/** MRA: says that an answer takes longer (kernel: {@code ibta_vol1_c12.h}). */
public final class Mra {
  static final Layout LAYOUT = new Layout("MRA", 0x0011);

  public static final MadField LOCAL_COMM_ID = LAYOUT.bits("local comm id", 0, 0, 32);
  public static final MadField REMOTE_COMM_ID = LAYOUT.bits("remote comm id", 4, 0, 32);
  public static final MadField MESSAGE_MRAED = LAYOUT.bits("message mraed", 8, 0, 2);
  public static final MadField SERVICE_TIMEOUT = LAYOUT.bits("service timeout", 9, 0, 5);
  public static final MadBytes PRIVATE_DATA = LAYOUT.bytes("private data", 10, 222);

  private Mra() {}
}
