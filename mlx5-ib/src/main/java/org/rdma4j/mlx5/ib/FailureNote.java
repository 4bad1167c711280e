package org.rdma4j.mlx5.ib;

import org.rdma4j.ib.core.verbs.AsyncEventType;
import org.rdma4j.ib.core.verbs.MemoryRegion;
import org.rdma4j.ib.core.verbs.MrType;
import org.rdma4j.ib.core.verbs.WcOpcode;
import org.rdma4j.mlx5.ifc.CompletionSyndrome;

/**
 * What failed first on a queue pair since it was in RESET, as far as a driver can know it: what the card's entry says,
 * what the request in the queue asked for, or the event when there was no entry. Numbers only, noted without allocation
 * by who polls; made into text when somebody asks. Safe for any thread.
 */
final class FailureNote {
  private static final int SEGMENT = SendQueue.SEGMENT;
  private static final int SEGMENTS_MASK = 0x3f;
  private static final int OPCODE_MASK = 0xff;
  private static final int INLINE = 1 << 31;
  private static final int INLINE_LENGTH = 0x3ff;
  private static final int WRITE = 0x08;
  private static final int WRITE_IMMEDIATE = 0x09;
  private static final int READ = 0x10;
  private static final int SWAP = 0x11;
  private static final int ADD = 0x12;
  private static final int UMR = 0x25;

  private final ConnectxDevice device;
  private AsyncEventType event; // all: guarded by this
  private boolean entry;
  private boolean ofSend;
  private int syndrome;
  private int vendor;
  private long wrId;
  private WcOpcode opcode;
  private boolean remote;
  private long remoteAddress;
  private int remoteKey;
  private int xrcSrq;
  private long length;
  private boolean buffer; // the one that fits no region, else the first
  private boolean bufferIsBad;
  private long address;
  private int bytes;
  private int key;

  FailureNote(ConnectxDevice device) {
    this.device = device;
  }

  /** The queue pair begins anew. */
  synchronized void clear() {
    event = null;
    entry = false;
  }

  /** The card has reported a failure by an event. */
  synchronized void ofEvent(AsyncEventType type) {
    if (!entry && event == null) {
      event = type;
    }
  }

  /** A receive has failed. */
  synchronized void ofReceive(int found, int vendorFound, long id, WcOpcode what) {
    if (!entry) {
      note(false, found, vendorFound, id, what);
    }
  }

  /** A send has failed, whose request lies in the queue from a block on. */
  synchronized void ofSend(int found, int vendorFound, long id, SendQueue queue, int block, IbQueuePair qp) {
    if (entry) {
      return;
    }
    note(true, found, vendorFound, id, queue.opcode(block));
    int end = (queue.word(block, 4) & SEGMENTS_MASK) * SEGMENT;
    int operation = queue.word(block, 0) & OPCODE_MASK;
    if (operation == UMR) {
      return;
    }
    int at = SEGMENT;
    if (qp.isDatagram()) {
      at += SendQueue.DATAGRAM;
    } else if (qp.isExtended()) {
      xrcSrq = queue.word(block, at);
      at += SEGMENT;
    }
    boolean atomic = operation == SWAP || operation == ADD;
    if (operation == WRITE || operation == WRITE_IMMEDIATE || operation == READ || atomic) {
      remote = true;
      remoteAddress =
          (long) queue.word(block, at) << Integer.SIZE | Integer.toUnsignedLong(queue.word(block, at + 4));
      remoteKey = queue.word(block, at + 8);
      at += atomic ? 2 * SEGMENT : SEGMENT;
    }
    data(queue, block, at, end);
  }

  private void note(boolean send, int found, int vendorFound, long id, WcOpcode what) {
    entry = true;
    ofSend = send;
    syndrome = found;
    vendor = vendorFound;
    wrId = id;
    opcode = what;
    remote = false;
    xrcSrq = 0;
    length = 0;
    buffer = false;
    bufferIsBad = false;
  }

  private void data(SendQueue queue, int block, int from, int end) {
    for (int at = from; at < end; at += SEGMENT) {
      int head = queue.word(block, at);
      if ((head & INLINE) != 0) {
        length += head & INLINE_LENGTH;
        return;
      }
      length += Integer.toUnsignedLong(head);
      long place =
          (long) queue.word(block, at + 8) << Integer.SIZE | Integer.toUnsignedLong(queue.word(block, at + 12));
      int lkey = queue.word(block, at + 4);
      boolean bad = !fits(region(lkey), place, head);
      if (!buffer || bad && !bufferIsBad) {
        buffer = true;
        bufferIsBad = bad;
        address = place;
        bytes = head;
        key = lkey;
      }
    }
  }

  /** The region that has a key now, or for fast registration would have it. */
  private MemoryRegion region(int lkey) {
    IbFastRegion fast = device.fastRegion(lkey);
    if (fast != null) {
      return fast.lkey() == lkey ? fast : null;
    }
    return IbMemoryRegion.find(device, lkey);
  }

  private static boolean fits(MemoryRegion region, long address, int bytes) {
    long offset = region == null ? -1 : address - region.address();
    return offset >= 0 && Integer.toUnsignedLong(bytes) <= region.length() - offset;
  }

  /** Clauses for a person, or an empty text. */
  synchronized String text() {
    if (!entry) {
      return event == null ? "" : eventText();
    }
    StringBuilder text = new StringBuilder();
    text.append(ofSend ? "work request " : "receive ").append(wrId);
    text.append(" (").append(opcode);
    if (ofSend && length > 0) {
      text.append(" of ").append(length).append(" bytes");
    }
    if (remote) {
      text.append(", remote address ").append(hex(remoteAddress)).append(", rkey ").append(hex(remoteKey));
    }
    if (xrcSrq != 0) {
      text.append(", shared receive queue ").append(xrcSrq).append(" of the peer");
    }
    text.append(") failed with ").append(name(syndrome)).append(" (0x").append(Integer.toHexString(syndrome));
    text.append("), vendor syndrome 0x").append(Integer.toHexString(vendor));
    String known = device.vendorErrors().get(vendor);
    if (known != null) {
      text.append(": ").append(known);
    }
    if (buffer && syndrome == CompletionSyndrome.LOCAL_PROT_ERR.number()) {
      text.append("; ").append(bufferText());
    }
    return text.toString();
  }

  /** What is wrong with a buffer, as the driver's own regions say. */
  private String bufferText() {
    MemoryRegion region = region(key);
    String text = Integer.toUnsignedString(bytes) + " bytes at " + hex(address) + " under key " + hex(key);
    if (region == null) {
      return text + ": no memory region has this key";
    }
    String when = region.type() == MrType.MEM_REG ? " while it is registered" : "";
    return text + ": its memory region has " + region.length() + " bytes at " + hex(region.address()) + when;
  }

  private String eventText() {
    String what =
        switch (event) {
          case QP_ACCESS_ERR -> "it refused a request of the peer, to memory or a queue that it has no right to";
          case QP_REQ_ERR -> "it refused a request of the peer as invalid";
          default -> "it cannot go on with the queues, or a completion queue took no entry";
        };
    return "the card reported " + event + ": " + what + ", and does not say which";
  }

  private static String name(int number) {
    CompletionSyndrome known = CompletionSyndrome.of(number);
    return known == null ? "an unknown syndrome" : known.text();
  }

  private static String hex(long value) {
    return "0x" + Long.toHexString(value);
  }

  private static String hex(int value) {
    return "0x" + Integer.toHexString(value);
  }
}
