package org.rdma4j.rdma.cm.message;

import org.rdma4j.ib.core.mad.MadBytes;
import org.rdma4j.ib.core.mad.MadField;

/** SIDR_REQ: asks for the queue pair behind a service (kernel: {@code ibta_vol1_c12.h}). */
public final class SidrReq {
  static final Layout LAYOUT = new Layout("SIDR_REQ", 0x0017);

  public static final MadField REQUEST_ID = LAYOUT.bits("request id", 0, 0, 32);
  public static final MadField PARTITION_KEY = LAYOUT.bits("partition key", 4, 0, 16);
  public static final MadField SERVICE_ID = LAYOUT.bits("service id", 8, 0, 64);
  public static final MadBytes PRIVATE_DATA = LAYOUT.bytes("private data", 16, 216);

  private SidrReq() {}
}
