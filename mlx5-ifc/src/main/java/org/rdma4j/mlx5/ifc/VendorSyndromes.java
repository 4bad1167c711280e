package org.rdma4j.mlx5.ifc;

import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Vendor syndromes of completion entries in error, which say more than the syndrome. A real card has numbers of its own
 * that nobody has published; these are those of the modelled card, which says so by its board id: below 0x20 found on
 * the side that posted the request, from 0x20 on by the responder, from 0x40 on answers received from the peer.
 */
public final class VendorSyndromes {
  /** Board id (PSID) of cards that have these. */
  public static final String BOARD_ID = "RDMA4J0000000001";

  private static final SortedMap<Integer, String> TEXTS = new TreeMap<>();

  static {
    TEXTS.put(0x01, "the opcode is not one of the service of this queue pair");
    TEXTS.put(0x02, "the message is longer than the port's max_msg_sz");
    TEXTS.put(0x03, "the local key names no valid memory region");
    TEXTS.put(0x04, "the local key belongs to another protection domain");
    TEXTS.put(0x05, "the local address range is not inside the memory region");
    TEXTS.put(0x06, "the memory region does not allow LOCAL_WRITE");
    TEXTS.put(0x07, "the memory under the region has been released");
    TEXTS.put(0x08, "the response does not fit the request it answers");
    TEXTS.put(0x09, "the length of the response is not the one asked for");
    TEXTS.put(0x0a, "no answer after retry_cnt retries");
    TEXTS.put(0x0b, "the peer had no receive posted after rnr_retry retries");
    TEXTS.put(0x0c, "an atomic needs 8 bytes of local memory and a remote address that is a multiple of 8");
    TEXTS.put(0x0d, "the local operation was refused");
    TEXTS.put(0x0e, "the address handle is missing or not of this protection domain");
    TEXTS.put(0x0f, "the queue pair was in the error state before this work request was executed");
    TEXTS.put(0x10, "the engine met an unexpected exception");
    TEXTS.put(0x11, "max_rd_atomic is 0, so READs and atomics cannot be sent");
    TEXTS.put(0x12, "the work request in the ring has a count, a length or a flag that no posted request has");
    TEXTS.put(0x13, "the key in the bind is not the present key of a memory window");
    TEXTS.put(0x14, "the memory window of type 2 is bound already; it has to be invalidated first");
    TEXTS.put(0x15, "memory window, memory region and queue pair are not of one protection domain");
    TEXTS.put(0x16, "the bind needs a valid memory region that is not zero based, and a length");
    TEXTS.put(0x17, "the memory region does not allow MW_BIND, or not the LOCAL_WRITE that these rights need");
    TEXTS.put(0x18, "the range of the memory window is not inside the memory region");
    TEXTS.put(
        0x19, "the key to invalidate is unknown, in use, of another owner or of a kind that cannot be invalidated");
    TEXTS.put(0x1a, "the registration names no region made for it in this protection domain, or a foreign key");
    TEXTS.put(0x1b, "the memory region is registered already; it has to be invalidated first");
    TEXTS.put(0x1c, "nothing is mapped to the memory region, or memory that these rights cannot be given to");
    TEXTS.put(0x1d, "a flush needs a placement type, a selectivity level that exists, and at most 2^31 bytes");
    TEXTS.put(0x20, "the packet's opcode does not follow the one before it");
    TEXTS.put(0x21, "the queue pair's access flags do not permit the operation");
    TEXTS.put(0x22, "the packet's length does not fit its opcode and the path MTU");
    TEXTS.put(0x23, "the length in the RETH is not the length of the message");
    TEXTS.put(0x24, "the remote key names no valid memory of this protection domain");
    TEXTS.put(0x25, "the remote address range is not inside the region");
    TEXTS.put(0x26, "the region does not allow this kind of remote access");
    TEXTS.put(0x27, "the memory under the region has been released");
    TEXTS.put(0x28, "more READs and atomics outstanding than max_dest_rd_atomic");
    TEXTS.put(0x29, "the address of the atomic is not a multiple of 8");
    TEXTS.put(0x2a, "the message is longer than the receive posted for it");
    TEXTS.put(0x2b, "the key to invalidate is unknown, in use or of a kind that cannot be invalidated");
    TEXTS.put(0x2c, "the flush names no placement type, or a reserved placement type or selectivity level");
    TEXTS.put(
        0x2d, "the request names no shared receive queue of the XRC domain, or not the one its message began with");
    TEXTS.put(0x40, "the peer answered NAK: invalid request");
    TEXTS.put(0x41, "the peer answered NAK: remote access error");
    TEXTS.put(0x42, "the peer answered NAK: remote operational error");
    TEXTS.put(0x43, "the peer answered with an unknown NAK code");
  }

  private VendorSyndromes() {}

  /** {@return all of them with their texts, clauses of a sentence; cannot be changed} */
  public static SortedMap<Integer, String> texts() {
    return Collections.unmodifiableSortedMap(TEXTS);
  }
}
