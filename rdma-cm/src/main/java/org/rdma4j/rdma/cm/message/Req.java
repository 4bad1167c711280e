package org.rdma4j.rdma.cm.message;

import org.rdma4j.ib.core.mad.MadBytes;
import org.rdma4j.ib.core.mad.MadField;

/** REQ: asks for a connection (kernel: {@code ibta_vol1_c12.h}). */
public final class Req {
  static final Layout LAYOUT = new Layout("REQ", 0x0010);

  public static final MadField LOCAL_COMM_ID = LAYOUT.bits("local comm id", 0, 0, 32);
  public static final MadField VENDOR_ID = LAYOUT.bits("vendor id", 5, 0, 24);
  public static final MadField SERVICE_ID = LAYOUT.bits("service id", 8, 0, 64);
  public static final MadField LOCAL_CA_GUID = LAYOUT.bits("local ca guid", 16, 0, 64);
  public static final MadField LOCAL_Q_KEY = LAYOUT.bits("local q key", 28, 0, 32);
  public static final MadField LOCAL_QPN = LAYOUT.bits("local qpn", 32, 0, 24);
  public static final MadField RESPONDER_RESOURCES = LAYOUT.bits("responder resources", 35, 0, 8);
  public static final MadField LOCAL_EECN = LAYOUT.bits("local eecn", 36, 0, 24);
  public static final MadField INITIATOR_DEPTH = LAYOUT.bits("initiator depth", 39, 0, 8);
  public static final MadField REMOTE_EECN = LAYOUT.bits("remote eecn", 40, 0, 24);
  public static final MadField REMOTE_CM_RESPONSE_TIMEOUT = LAYOUT.bits("remote cm response timeout", 43, 0, 5);
  public static final MadField TRANSPORT_SERVICE_TYPE = LAYOUT.bits("transport service type", 43, 5, 2);
  public static final MadField END_TO_END_FLOW_CONTROL = LAYOUT.bits("end to end flow control", 43, 7, 1);
  public static final MadField STARTING_PSN = LAYOUT.bits("starting psn", 44, 0, 24);
  public static final MadField LOCAL_CM_RESPONSE_TIMEOUT = LAYOUT.bits("local cm response timeout", 47, 0, 5);
  public static final MadField RETRY_COUNT = LAYOUT.bits("retry count", 47, 5, 3);
  public static final MadField PARTITION_KEY = LAYOUT.bits("partition key", 48, 0, 16);
  public static final MadField PATH_PACKET_PAYLOAD_MTU = LAYOUT.bits("path packet payload mtu", 50, 0, 4);
  public static final MadField RDC_EXISTS = LAYOUT.bits("rdc exists", 50, 4, 1);
  public static final MadField RNR_RETRY_COUNT = LAYOUT.bits("rnr retry count", 50, 5, 3);
  public static final MadField MAX_CM_RETRIES = LAYOUT.bits("max cm retries", 51, 0, 4);
  public static final MadField SRQ = LAYOUT.bits("srq", 51, 4, 1);
  public static final MadField EXTENDED_TRANSPORT_TYPE = LAYOUT.bits("extended transport type", 51, 5, 3);
  public static final MadField PRIMARY_LOCAL_PORT_LID = LAYOUT.bits("primary local port lid", 52, 0, 16);
  public static final MadField PRIMARY_REMOTE_PORT_LID = LAYOUT.bits("primary remote port lid", 54, 0, 16);
  public static final MadBytes PRIMARY_LOCAL_PORT_GID = LAYOUT.bytes("primary local port gid", 56, 16);
  public static final MadBytes PRIMARY_REMOTE_PORT_GID = LAYOUT.bytes("primary remote port gid", 72, 16);
  public static final MadField PRIMARY_FLOW_LABEL = LAYOUT.bits("primary flow label", 88, 0, 20);
  public static final MadField PRIMARY_PACKET_RATE = LAYOUT.bits("primary packet rate", 91, 2, 6);
  public static final MadField PRIMARY_TRAFFIC_CLASS = LAYOUT.bits("primary traffic class", 92, 0, 8);
  public static final MadField PRIMARY_HOP_LIMIT = LAYOUT.bits("primary hop limit", 93, 0, 8);
  public static final MadField PRIMARY_SL = LAYOUT.bits("primary sl", 94, 0, 4);
  public static final MadField PRIMARY_SUBNET_LOCAL = LAYOUT.bits("primary subnet local", 94, 4, 1);
  public static final MadField PRIMARY_LOCAL_ACK_TIMEOUT = LAYOUT.bits("primary local ack timeout", 95, 0, 5);
  public static final MadField ALTERNATE_LOCAL_PORT_LID = LAYOUT.bits("alternate local port lid", 96, 0, 16);
  public static final MadField ALTERNATE_REMOTE_PORT_LID = LAYOUT.bits("alternate remote port lid", 98, 0, 16);
  public static final MadBytes ALTERNATE_LOCAL_PORT_GID = LAYOUT.bytes("alternate local port gid", 100, 16);
  public static final MadBytes ALTERNATE_REMOTE_PORT_GID = LAYOUT.bytes("alternate remote port gid", 116, 16);
  public static final MadField ALTERNATE_FLOW_LABEL = LAYOUT.bits("alternate flow label", 132, 0, 20);
  public static final MadField ALTERNATE_PACKET_RATE = LAYOUT.bits("alternate packet rate", 135, 2, 6);
  public static final MadField ALTERNATE_TRAFFIC_CLASS = LAYOUT.bits("alternate traffic class", 136, 0, 8);
  public static final MadField ALTERNATE_HOP_LIMIT = LAYOUT.bits("alternate hop limit", 137, 0, 8);
  public static final MadField ALTERNATE_SL = LAYOUT.bits("alternate sl", 138, 0, 4);
  public static final MadField ALTERNATE_SUBNET_LOCAL = LAYOUT.bits("alternate subnet local", 138, 4, 1);
  public static final MadField ALTERNATE_LOCAL_ACK_TIMEOUT = LAYOUT.bits("alternate local ack timeout", 139, 0, 5);
  public static final MadField SAP_SUPPORTED = LAYOUT.bits("sap supported", 139, 5, 1);
  public static final MadBytes PRIVATE_DATA = LAYOUT.bytes("private data", 140, 92);

  private Req() {}
}
