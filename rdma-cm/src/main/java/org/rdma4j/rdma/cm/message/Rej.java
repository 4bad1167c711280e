package org.rdma4j.rdma.cm.message;

import org.rdma4j.ib.core.mad.MadBytes;
import org.rdma4j.ib.core.mad.MadField;

/** REJ: refuses a message, or ends what is being set up (kernel: {@code ibta_vol1_c12.h}). */
public final class Rej {
  static final Layout LAYOUT = new Layout("REJ", 0x0012);

  public static final MadField LOCAL_COMM_ID = LAYOUT.bits("local comm id", 0, 0, 32);
  public static final MadField REMOTE_COMM_ID = LAYOUT.bits("remote comm id", 4, 0, 32);
  public static final MadField MESSAGE_REJECTED = LAYOUT.bits("message rejected", 8, 0, 2);
  public static final MadField REJECTED_INFO_LENGTH = LAYOUT.bits("rejected info length", 9, 0, 7);
  public static final MadField REASON = LAYOUT.bits("reason", 10, 0, 16);
  public static final MadBytes ARI = LAYOUT.bytes("ari", 12, 72);
  public static final MadBytes PRIVATE_DATA = LAYOUT.bytes("private data", 84, 148);

  private Rej() {}
}
