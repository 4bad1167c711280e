package org.rdma4j.ib.core.verbs;

/** The kinds of verbs objects, in the order in which what is left of a device or context is destroyed. */
enum ObjectKind {
  QUEUE_PAIR("QP", ResourceType.QP, DeviceLimit.MAX_QP),
  ADDRESS_HANDLE("AH", null, DeviceLimit.MAX_AH),
  SHARED_RECEIVE_QUEUE("SRQ", ResourceType.SRQ, DeviceLimit.MAX_SRQ),
  MEMORY_REGION("MR", ResourceType.MR, DeviceLimit.MAX_MR),
  COMPLETION_QUEUE("CQ", ResourceType.CQ, DeviceLimit.MAX_CQ),
  COMPLETION_CHANNEL("completion channel", null, null),
  PROTECTION_DOMAIN("PD", ResourceType.PD, DeviceLimit.MAX_PD);

  private final String label;
  private final ResourceType tracked;
  private final DeviceLimit limit;

  ObjectKind(String label, ResourceType tracked, DeviceLimit limit) {
    this.label = label;
    this.tracked = tracked;
    this.limit = limit;
  }

  String label() {
    return label;
  }

  /** The type in resource tracking, or null where the kind is not listed. */
  ResourceType tracked() {
    return tracked;
  }

  /** The limit on their number, or null where there is none. */
  DeviceLimit limit() {
    return limit;
  }
}
