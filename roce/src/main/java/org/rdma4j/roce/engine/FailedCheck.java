package org.rdma4j.roce.engine;

/**
 * Which check ended a work request: the vendor error code of its completion. Codes below 0x20 are found on the side
 * that posted the request, from 0x20 on by the responder, from 0x40 on are answers received from the peer.
 */
public enum FailedCheck {
  /** No check failed. */
  NONE(0, "no error"),
  /** Opcode of the work request is not one of the queue pair's service. */
  OPCODE(0x01, "the opcode is not one of the service of this queue pair"),
  /** Sum of the scatter/gather lengths exceeds the port's maximum. */
  MESSAGE_TOO_LONG(0x02, "the message is longer than the port's max_msg_sz"),
  /** Local key is unknown, invalid, or of another kind. */
  LOCAL_KEY(0x03, "the local key names no valid memory region"),
  /** Local key belongs to another protection domain. */
  LOCAL_PROTECTION_DOMAIN(0x04, "the local key belongs to another protection domain"),
  /** Local address and length leave the region. */
  LOCAL_RANGE(0x05, "the local address range is not inside the memory region"),
  /** Region does not allow local write. */
  LOCAL_WRITE_ACCESS(0x06, "the memory region does not allow LOCAL_WRITE"),
  /** Memory of the region is not there any more. */
  LOCAL_MEMORY_GONE(0x07, "the memory under the region has been released"),
  /** READ response or atomic acknowledge does not fit the request. */
  RESPONSE_MISMATCH(0x08, "the response does not fit the request it answers"),
  /** Response carries another length than was asked for. */
  RESPONSE_LENGTH(0x09, "the length of the response is not the one asked for"),
  /** All retries used, no answer. */
  RETRIES_USED(0x0a, "no answer after retry_cnt retries"),
  /** All RNR retries used. */
  RNR_RETRIES_USED(0x0b, "the peer had no receive posted after rnr_retry retries"),
  /** Atomic needs eight bytes of local memory and an aligned address. */
  ATOMIC_SHAPE(0x0c, "an atomic needs 8 bytes of local memory and a remote address that is a multiple of 8"),
  /** Local operation (bind, invalidate, fast registration) refused. */
  LOCAL_OPERATION(0x0d, "the local operation was refused"),
  /** No address handle, or one of another protection domain. */
  ADDRESS_HANDLE(0x0e, "the address handle is missing or not of this protection domain"),
  /** The queue pair was in the error state. */
  FLUSH(0x0f, "the queue pair was in the error state before this work request was executed"),
  /** READ or atomic on a queue pair with initiator depth 0. */
  READ_DEPTH(0x11, "max_rd_atomic is 0, so READs and atomics cannot be sent"),
  /** The work request breaks the layout of its ring. */
  WORK_REQUEST(0x12, "the work request in the ring has a count, a length or a flag that no posted request has"),
  /** Bind names no window by its present key. */
  BIND_WINDOW(0x13, "the key in the bind is not the present key of a memory window"),
  /** Window of type 2 is bound already (IBA specification o10-37.2.30). */
  BIND_STATE(0x14, "the memory window of type 2 is bound already; it has to be invalidated first"),
  /** Window, region and queue pair of different protection domains (C10-72). */
  BIND_PROTECTION_DOMAIN(0x15, "memory window, memory region and queue pair are not of one protection domain"),
  /** Region of the bind is missing, invalid or zero based, or has no bytes (o10-37.2.40). */
  BIND_REGION(0x16, "the bind needs a valid memory region that is not zero based, and a length"),
  /** Region lacks MW_BIND, or LOCAL_WRITE for a window with remote writes or atomics (C10-73, C10-74). */
  BIND_ACCESS(0x17, "the memory region does not allow MW_BIND, or not the LOCAL_WRITE that these rights need"),
  /** Range of the window leaves the region (C10-75). */
  BIND_RANGE(0x18, "the range of the memory window is not inside the memory region"),
  /** Key of a local invalidate is not one that may be. */
  LOCAL_INVALIDATE(
      0x19, "the key to invalidate is unknown, in use, of another owner or of a kind that cannot be invalidated"),
  /** Fast registration of what is no region made for it, or under a key that is not the region's. */
  REGISTER_REGION(0x1a, "the registration names no region made for it in this protection domain, or a foreign key"),
  /** Region is registered already. */
  REGISTER_STATE(0x1b, "the memory region is registered already; it has to be invalidated first"),
  /** Nothing mapped, or read-only memory for rights to write. */
  REGISTER_MEMORY(0x1c, "nothing is mapped to the memory region, or memory that these rights cannot be given to"),
  /** Flush of more than 2 GiB, or of a placement type or selectivity level that there is not. */
  FLUSH_SHAPE(0x1d, "a flush needs a placement type, a selectivity level that exists, and at most 2^31 bytes"),
  /** Unexpected exception in the engine. */
  ENGINE_FAULT(0x10, "the engine met an unexpected exception"),

  /** Opcode does not follow the one before it. */
  SEQUENCE(0x20, "the packet's opcode does not follow the one before it"),
  /** Queue pair does not permit this operation. */
  QP_ACCESS(0x21, "the queue pair's access flags do not permit the operation"),
  /** Packet length against path MTU, pad and opcode. */
  PACKET_LENGTH(0x22, "the packet's length does not fit its opcode and the path MTU"),
  /** Length announced in the RETH is not what arrives, or above 2 GiB. */
  DMA_LENGTH(0x23, "the length in the RETH is not the length of the message"),
  /** Remote key is unknown, invalid or of another protection domain. */
  REMOTE_KEY(0x24, "the remote key names no valid memory of this protection domain"),
  /** Remote address range leaves the region. */
  REMOTE_RANGE(0x25, "the remote address range is not inside the region"),
  /** Region does not allow this remote access. */
  REMOTE_ACCESS(0x26, "the region does not allow this kind of remote access"),
  /** Memory of the region is gone. */
  REMOTE_MEMORY_GONE(0x27, "the memory under the region has been released"),
  /** More outstanding READs and atomics than max_dest_rd_atomic. */
  TOO_MANY_READS(0x28, "more READs and atomics outstanding than max_dest_rd_atomic"),
  /** Atomic address is not a multiple of 8. */
  ATOMIC_ALIGNMENT(0x29, "the address of the atomic is not a multiple of 8"),
  /** SEND is longer than the receive it meets. */
  RECEIVE_TOO_SHORT(0x2a, "the message is longer than the receive posted for it"),
  /** Key to invalidate is not one that may be. */
  INVALIDATE(0x2b, "the key to invalidate is unknown, in use or of a kind that cannot be invalidated"),
  /** FLUSH names a placement type or a selectivity level that is not defined, or no placement. */
  FLUSH_TYPE(0x2c, "the flush names no placement type, or a reserved placement type or selectivity level"),
  /** XRCETH names no shared receive queue of the domain, or another than the message began with. */
  XRC_SRQ(0x2d, "the request names no shared receive queue of the XRC domain, or not the one its message began with"),

  /** NAK, invalid request. */
  NAK_INVALID_REQUEST(0x40, "the peer answered NAK: invalid request"),
  /** NAK, remote access error. */
  NAK_REMOTE_ACCESS(0x41, "the peer answered NAK: remote access error"),
  /** NAK, remote operational error. */
  NAK_REMOTE_OPERATION(0x42, "the peer answered NAK: remote operational error"),
  /** NAK or syndrome that the specification does not know. */
  NAK_UNKNOWN(0x43, "the peer answered with an unknown NAK code");

  private static final int FIRST_OF_RESPONDER = 0x20;
  private static final FailedCheck[] BY_CODE = new FailedCheck[0x44];

  static {
    for (FailedCheck check : values()) {
      BY_CODE[check.code] = check;
    }
  }

  private final int code;
  private final String text;

  FailedCheck(int code, String text) {
    this.code = code;
    this.text = text;
  }

  /** {@return the vendor error code in completions} */
  public int code() {
    return code;
  }

  /** Whether a check failed, and of something that belongs to this side. */
  boolean isLocal() {
    return this != NONE && code < FIRST_OF_RESPONDER;
  }

  /** {@return what was wrong, as a clause of a sentence} */
  public String text() {
    return text;
  }

  /**
   * {@return the check of a vendor error code, or null when no check has that code}
   *
   * @param code vendor error of a completion
   */
  public static FailedCheck ofCode(int code) {
    return code >= 0 && code < BY_CODE.length ? BY_CODE[code] : null;
  }
}
