package org.rdma4j.ib.core.mad;

/** The header that all management datagrams have (IBA volume 1, 13.4.3; kernel: {@code struct ib_mad_hdr}). */
public final class MadHeader {
  /** Bytes of the header. */
  public static final int BYTES = 24;

  /** Bytes of a MAD with its header. */
  public static final int MAD_BYTES = 256;

  /** The version of all MADs. */
  public static final int BASE_VERSION_1 = 1;

  /** Management class: communication management. */
  public static final int CLASS_CM = 0x07;

  /** Class version of communication management. */
  public static final int CLASS_VERSION_CM = 2;

  /** Method: asks for an attribute. */
  public static final int METHOD_GET = 0x01;

  /** Method: sets an attribute. */
  public static final int METHOD_SET = 0x02;

  /** Method: a message of its own. */
  public static final int METHOD_SEND = 0x03;

  /** Method: what answers a Get or a Set. */
  public static final int METHOD_GET_RESP = 0x81;

  /** Method: a trap need not be repeated. */
  public static final int METHOD_TRAP_REPRESS = 0x07;

  /** Methods with this bit answer. */
  public static final int RESPONSE = 0x80;

  /** Attribute that every class has: what the class is able to. */
  public static final int ATTRIBUTE_CLASS_PORT_INFO = 0x0001;

  /** Status: the class does not have this method or this attribute with this method. */
  public static final int STATUS_UNSUPPORTED_METHOD_ATTRIBUTE = 0x000c;

  /** Base version, {@link #BASE_VERSION_1}. */
  public static final MadField BASE_VERSION = new MadField("base version", 0, 0, 8);

  /** Management class. */
  public static final MadField MANAGEMENT_CLASS = new MadField("management class", 1, 0, 8);

  /** Version of the class. */
  public static final MadField CLASS_VERSION = new MadField("class version", 2, 0, 8);

  /** Method. */
  public static final MadField METHOD = new MadField("method", 3, 0, 8);

  /** Status of an answer. */
  public static final MadField STATUS = new MadField("status", 4, 0, 16);

  /** What an answer has from its question. */
  public static final MadField TRANSACTION_ID = new MadField("transaction id", 8, 0, 64);

  /** Which attribute of the class it is about. */
  public static final MadField ATTRIBUTE_ID = new MadField("attribute id", 16, 0, 16);

  /** Which of several of the attribute. */
  public static final MadField ATTRIBUTE_MODIFIER = new MadField("attribute modifier", 20, 0, 32);

  private MadHeader() {}
}
