package org.rdma4j.rdma.cm.message;

import org.rdma4j.ib.core.mad.MadBytes;
import org.rdma4j.ib.core.mad.MadField;

/** RTU: says that the asking side is ready (kernel: {@code ibta_vol1_c12.h}). */
public final class Rtu {
  static final Layout LAYOUT = new Layout("RTU", 0x0014);

  public static final MadField LOCAL_COMM_ID = LAYOUT.bits("local comm id", 0, 0, 32);
  public static final MadField REMOTE_COMM_ID = LAYOUT.bits("remote comm id", 4, 0, 32);
  public static final MadBytes PRIVATE_DATA = LAYOUT.bytes("private data", 8, 224);

  private Rtu() {}
}
