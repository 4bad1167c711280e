package org.rdma4j.mlx5.device.internal;

/** What exactly was wrong with a command, as the second word of its output. The numbers are this firmware's own. */
enum Syndrome {
  NONE(0, "none"),
  UNKNOWN_OPCODE(0x0001, "the opcode is not modelled"),
  UNKNOWN_MODIFIER(0x0002, "the modifier is not one of this opcode"),
  INPUT_TOO_SHORT(0x0003, "the input is shorter than its fixed part"),
  OUTPUT_TOO_SHORT(0x0004, "the output does not hold the fixed part"),
  LIST_TOO_SHORT(0x0005, "the list has fewer entries than the context needs"),
  NOT_ENABLED(0x0010, "the function is not enabled"),
  ENABLED_ALREADY(0x0011, "the function is enabled already"),
  NOT_INITIALIZED(0x0012, "INIT_HCA was not given"),
  INITIALIZED_ALREADY(0x0013, "INIT_HCA was given already"),
  PAGES_MISSING(0x0014, "pages that were asked for were not given"),
  OTHER_FUNCTION(0x0015, "there is only function 0"),
  BAD_ISSI(0x0016, "only interface step 1 is supported"),
  IN_USE(0x0020, "something still uses the object"),
  BOUND(0x0024, "memory windows are bound to the memory key"),
  NO_SUCH_OBJECT(0x0021, "there is no object of that number"),
  NO_FREE_INDEX(0x0022, "all objects of the type are in use"),
  NO_FREE_PAGE(0x0023, "no page of the host is free"),
  BAD_PAGE(0x0030, "a page is not aligned, is 0, or was given before"),
  PAGE_FAULT(0x0031, "a page cannot be reached by DMA"),
  TOO_MANY_PAGES(0x0032, "more pages were asked back than are free"),
  BAD_SIZE(0x0040, "a size is beyond the card's limits"),
  BAD_VECTOR(0x0041, "the interrupt vector does not exist"),
  BAD_UAR(0x0042, "the UAR page is not allocated"),
  BAD_PD(0x0043, "the protection domain is not allocated"),
  BAD_EQ(0x0044, "the event queue does not exist"),
  BAD_CQ(0x0045, "the completion queue does not exist"),
  BAD_SRQ(0x0046, "the shared receive queue does not exist"),
  BAD_XRCD(0x0047, "the XRC domain is not allocated"),
  BAD_SERVICE(0x0048, "the transport service is not modelled"),
  BAD_STATE(0x0049, "the object is not in the state that this needs, or cannot enter the one that is wanted"),
  BAD_ROCE_INDEX(0x004a, "the index is beyond the RoCE address table"),
  BAD_ADDRESS(0x004b, "the address is not of the kind that is wanted, or leads nowhere"),
  BAD_MTU(0x004c, "the path MTU is none, or larger than the port's"),
  BAD_PKEY_INDEX(0x004d, "the index is beyond the P_Key table"),
  TOO_MANY_ENTRIES(0x004e, "more entries are unread than the new size has"),
  NOT_MODELLED(0x004f, "the context asks for something that is not modelled and not advertised"),
  ROCE_OFF(0x0053, "RoCE was not turned on for the vport"),
  CAP_BEYOND_MAX(0x0050, "a capability is set beyond its maximum"),
  CAP_AFTER_INIT(0x0051, "capabilities are set after INIT_HCA"),
  UNKNOWN_CAP(0x0052, "there is no such page of capabilities"),
  UNKNOWN_REGISTER(0x0060, "the register is not modelled"),
  READ_ONLY_REGISTER(0x0061, "the register cannot be written"),
  INJECTED(0x00f0, "a fault was injected");

  private final int number;
  private final String text;

  Syndrome(int number, String text) {
    this.number = number;
    this.text = text;
  }

  int number() {
    return number;
  }

  /** The words for a number; empty when it is none. */
  static String text(int number) {
    for (Syndrome each : values()) {
      if (each.number == number) {
        return each.text;
      }
    }
    return "";
  }

  String text() {
    return text;
  }
}
