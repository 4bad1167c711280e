package org.rdma4j.rdma.cm.message;

import org.rdma4j.ib.core.mad.MadBytes;
import org.rdma4j.ib.core.mad.MadField;

/** REP: answers a request (kernel: {@code ibta_vol1_c12.h}). */
public final class Rep {
  static final Layout LAYOUT = new Layout("REP", 0x0013);

  public static final MadField LOCAL_COMM_ID = LAYOUT.bits("local comm id", 0, 0, 32);
  public static final MadField REMOTE_COMM_ID = LAYOUT.bits("remote comm id", 4, 0, 32);
  public static final MadField LOCAL_Q_KEY = LAYOUT.bits("local q key", 8, 0, 32);
  public static final MadField LOCAL_QPN = LAYOUT.bits("local qpn", 12, 0, 24);
  public static final MadField VENDOR_ID_H = LAYOUT.bits("vendor id h", 15, 0, 8);
  public static final MadField LOCAL_EE_CONTEXT_NUMBER = LAYOUT.bits("local ee context number", 16, 0, 24);
  public static final MadField VENDOR_ID_M = LAYOUT.bits("vendor id m", 19, 0, 8);
  public static final MadField STARTING_PSN = LAYOUT.bits("starting psn", 20, 0, 24);
  public static final MadField VENDOR_ID_L = LAYOUT.bits("vendor id l", 23, 0, 8);
  public static final MadField RESPONDER_RESOURCES = LAYOUT.bits("responder resources", 24, 0, 8);
  public static final MadField INITIATOR_DEPTH = LAYOUT.bits("initiator depth", 25, 0, 8);
  public static final MadField TARGET_ACK_DELAY = LAYOUT.bits("target ack delay", 26, 0, 5);
  public static final MadField FAILOVER_ACCEPTED = LAYOUT.bits("failover accepted", 26, 5, 2);
  public static final MadField END_TO_END_FLOW_CONTROL = LAYOUT.bits("end to end flow control", 26, 7, 1);
  public static final MadField RNR_RETRY_COUNT = LAYOUT.bits("rnr retry count", 27, 0, 3);
  public static final MadField SRQ = LAYOUT.bits("srq", 27, 3, 1);
  public static final MadField LOCAL_CA_GUID = LAYOUT.bits("local ca guid", 28, 0, 64);
  public static final MadBytes PRIVATE_DATA = LAYOUT.bytes("private data", 36, 196);

  private Rep() {}
}
