package org.rdma4j.ib.core.verbs;

/** The kinds of verbs objects, in the order in which what is left of a device or context is destroyed. */
enum ObjectKind {
  QUEUE_PAIR_HANDLE("QP", null, "open_qp", "close_qp"),
  QUEUE_PAIR("QP", DeviceLimit.MAX_QP, "create_qp", "destroy_qp"),
  ADDRESS_HANDLE("AH", DeviceLimit.MAX_AH, "create_ah", "destroy_ah"),
  SHARED_RECEIVE_QUEUE("SRQ", DeviceLimit.MAX_SRQ, "create_srq", "destroy_srq"),
  XRC_DOMAIN("XRCD", null, "alloc_xrcd", "dealloc_xrcd"),
  MEMORY_WINDOW("MW", DeviceLimit.MAX_MW, "alloc_mw", "dealloc_mw"),
  MEMORY_REGION("MR", DeviceLimit.MAX_MR, "reg_user_mr", "dereg_mr"),
  COMPLETION_QUEUE("CQ", DeviceLimit.MAX_CQ, "create_cq", "destroy_cq"),
  COMPLETION_CHANNEL("completion channel", null, "create_comp_channel", "destroy_comp_channel"),
  PROTECTION_DOMAIN("PD", DeviceLimit.MAX_PD, "alloc_pd", "dealloc_pd");

  private final String label;
  private final DeviceLimit limit;
  private final String making;
  private final String ending;

  ObjectKind(String label, DeviceLimit limit, String making, String ending) {
    this.label = label;
    this.limit = limit;
    this.making = making;
    this.ending = ending;
  }

  /** The verb that makes one. */
  String making() {
    return making;
  }

  /** The verb that ends one. */
  String ending() {
    return ending;
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
