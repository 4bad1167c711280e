package org.rdma4j.rdma.cm.message;

import org.rdma4j.ib.core.mad.MadBytes;
import org.rdma4j.ib.core.mad.MadField;

/** SIDR_REP: names the queue pair behind a service (kernel: {@code ibta_vol1_c12.h}). */
public final class SidrRep {
  static final Layout LAYOUT = new Layout("SIDR_REP", 0x0018);

  public static final MadField REQUEST_ID = LAYOUT.bits("request id", 0, 0, 32);
  public static final MadField STATUS = LAYOUT.bits("status", 4, 0, 8);
  public static final MadField ADDITIONAL_INFORMATION_LENGTH = LAYOUT.bits("additional information length", 5, 0, 8);
  public static final MadField VENDOR_ID_H = LAYOUT.bits("vendor id h", 6, 0, 16);
  public static final MadField QPN = LAYOUT.bits("qpn", 8, 0, 24);
  public static final MadField VENDOR_ID_L = LAYOUT.bits("vendor id l", 11, 0, 8);
  public static final MadField SERVICE_ID = LAYOUT.bits("service id", 12, 0, 64);
  public static final MadField Q_KEY = LAYOUT.bits("q key", 20, 0, 32);
  public static final MadBytes ADDITIONAL_INFORMATION = LAYOUT.bytes("additional information", 24, 72);
  public static final MadBytes PRIVATE_DATA = LAYOUT.bytes("private data", 96, 136);

  private SidrRep() {}
}
