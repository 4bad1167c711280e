package org.rdma4j.rdma.cm.message;

import org.rdma4j.ib.core.mad.MadBytes;
import org.rdma4j.ib.core.mad.MadField;

/** LAP: asks for another alternate path (kernel: {@code ibta_vol1_c12.h}). */
public final class Lap {
  static final Layout LAYOUT = new Layout("LAP", 0x0019);

  public static final MadField LOCAL_COMM_ID = LAYOUT.bits("local comm id", 0, 0, 32);
  public static final MadField REMOTE_COMM_ID = LAYOUT.bits("remote comm id", 4, 0, 32);
  public static final MadField REMOTE_QPN_EECN = LAYOUT.bits("remote qpn eecn", 12, 0, 24);
  public static final MadField REMOTE_CM_RESPONSE_TIMEOUT = LAYOUT.bits("remote cm response timeout", 15, 0, 5);
  public static final MadField ALTERNATE_LOCAL_PORT_LID = LAYOUT.bits("alternate local port lid", 20, 0, 16);
  public static final MadField ALTERNATE_REMOTE_PORT_LID = LAYOUT.bits("alternate remote port lid", 22, 0, 16);
  public static final MadBytes ALTERNATE_LOCAL_PORT_GID = LAYOUT.bytes("alternate local port gid", 24, 16);
  public static final MadBytes ALTERNATE_REMOTE_PORT_GID = LAYOUT.bytes("alternate remote port gid", 40, 16);
  public static final MadField ALTERNATE_FLOW_LABEL = LAYOUT.bits("alternate flow label", 56, 0, 20);
  public static final MadField ALTERNATE_TRAFFIC_CLASS = LAYOUT.bits("alternate traffic class", 59, 0, 8);
  public static final MadField ALTERNATE_HOP_LIMIT = LAYOUT.bits("alternate hop limit", 60, 0, 8);
  public static final MadField ALTERNATE_PACKET_RATE = LAYOUT.bits("alternate packet rate", 61, 2, 6);
  public static final MadField ALTERNATE_SL = LAYOUT.bits("alternate sl", 62, 0, 4);
  public static final MadField ALTERNATE_SUBNET_LOCAL = LAYOUT.bits("alternate subnet local", 62, 4, 1);
  public static final MadField ALTERNATE_LOCAL_ACK_TIMEOUT = LAYOUT.bits("alternate local ack timeout", 63, 0, 5);
  public static final MadBytes PRIVATE_DATA = LAYOUT.bytes("private data", 64, 168);

  private Lap() {}
}
