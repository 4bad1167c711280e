package org.rdma4j.rdma.cm.message;

import org.rdma4j.ib.core.mad.MadBytes;
import org.rdma4j.ib.core.mad.MadField;

/** APR: answers a LAP (kernel: {@code ibta_vol1_c12.h}). */
public final class Apr {
  static final Layout LAYOUT = new Layout("APR", 0x001a);

  public static final MadField LOCAL_COMM_ID = LAYOUT.bits("local comm id", 0, 0, 32);
  public static final MadField REMOTE_COMM_ID = LAYOUT.bits("remote comm id", 4, 0, 32);
  public static final MadField ADDITIONAL_INFORMATION_LENGTH = LAYOUT.bits("additional information length", 8, 0, 8);
  public static final MadField AR_STATUS = LAYOUT.bits("ar status", 9, 0, 8);
  public static final MadBytes ADDITIONAL_INFORMATION = LAYOUT.bytes("additional information", 12, 72);
  public static final MadBytes PRIVATE_DATA = LAYOUT.bytes("private data", 84, 148);

  private Apr() {}
}
