package org.rdma4j.ib.core.verbs;

/** The kinds of verbs objects, in the order in which what is left of a device or context is destroyed. */
enum ObjectKind {
  QUEUE_PAIR_HANDLE("QP", null),
  QUEUE_PAIR("QP", DeviceLimit.MAX_QP),
  ADDRESS_HANDLE("AH", DeviceLimit.MAX_AH),
  SHARED_RECEIVE_QUEUE("SRQ", DeviceLimit.MAX_SRQ),
  XRC_DOMAIN("XRCD", null),
  MEMORY_WINDOW("MW", DeviceLimit.MAX_MW),
  MEMORY_REGION("MR", DeviceLimit.MAX_MR),
  COMPLETION_QUEUE("CQ", DeviceLimit.MAX_CQ),
  COMPLETION_CHANNEL("completion channel", null),
  PROTECTION_DOMAIN("PD", DeviceLimit.MAX_PD);

  private final String label;
  private final DeviceLimit limit;

  ObjectKind(String label, DeviceLimit limit) {
    this.label = label;
    this.limit = limit;
  }

  String label() {
    return label;
  }

  /** Whether the core counts objects of the kind; a queue pair brings its own number. */
  boolean isNumbered() {
    return this != QUEUE_PAIR && this != QUEUE_PAIR_HANDLE && this != ADDRESS_HANDLE && this != COMPLETION_CHANNEL;
  }

  /** The limit on their number, or null where there is none. */
  DeviceLimit limit() {
    return limit;
  }
}
