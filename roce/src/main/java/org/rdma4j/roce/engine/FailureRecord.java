package org.rdma4j.roce.engine;

import java.lang.foreign.MemorySegment;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.link.ReceivedPacket;
import org.rdma4j.roce.packet.AtomicEth;
import org.rdma4j.roce.packet.Bth;
import org.rdma4j.roce.packet.Opcode;
import org.rdma4j.roce.packet.Reth;

/**
 * What failed first on a queue pair, with the values that were looked at: numbers only, filled without allocation on
 * the path of the failure and made into text when somebody asks. Engine thread only.
 */
final class FailureRecord {
  private static final int NO_PACKET = -1;
  private static final int NANOS_PER_MICRO = 1000;

  private final QpContext qp;
  private FailedCheck check = FailedCheck.NONE;
  private SendWork work; // null: a request of the peer
  private long id;
  private int workOpcode;
  private long workLength;
  private long workAddress;
  private int workKey;
  private int firstPsn;
  private int lastPsn;
  private int expectedPsn;
  private long held;

  private int opcode = NO_PACKET;
  private int psn;
  private int length;
  private long sourceHi;
  private long sourceLo;
  private boolean namesMemory;
  private long address;
  private long addressLength;
  private int key;

  private boolean memoryAsked;
  private long askedAddress;
  private long askedLength;
  private int askedKey;
  private int askedRights;
  private int askedDomain;
  private boolean memoryFound;
  private long memoryStart;
  private long memoryLength;
  private int memoryRights;
  private int memoryDomain;
  private int memoryQp;

  FailureRecord(QpContext qp) {
    this.qp = qp;
  }

  /** The queue pair begins anew. */
  void clear() {
    check = FailedCheck.NONE;
    work = null;
  }

  boolean isEmpty() {
    return check == FailedCheck.NONE;
  }

  /** An own request has failed; it replaces a later one that was noted before and will be flushed. */
  void ofRequest(SendWork failed, FailedCheck why) {
    if (check != FailedCheck.NONE && (work == null || work == failed)) {
      return;
    }
    check = why;
    work = failed;
    id = failed.id;
    workOpcode = failed.opcode;
    workLength = failed.length;
    workAddress = failed.remoteAddress;
    workKey = failed.remoteKey;
    firstPsn = failed.firstPsn;
    lastPsn = failed.lastPsn;
    notePacket();
    noteMemory();
  }

  /** A request of the peer has failed here, or the receive it met; the first one counts. */
  void ofPeer(FailedCheck why, int expected, long receiveBytes) {
    if (check != FailedCheck.NONE) {
      return;
    }
    check = why;
    work = null;
    expectedPsn = expected;
    held = receiveBytes;
    notePacket();
    noteMemory();
  }

  private void notePacket() {
    opcode = NO_PACKET;
    namesMemory = false;
    ReceivedPacket received = qp.engine().currentPacket();
    if (received == null) {
      return;
    }
    MemorySegment packet = received.buffer();
    long at = received.offset();
    opcode = Bth.opcode(packet, at);
    psn = Bth.psn(packet, at);
    length = received.length() - Opcode.headerLength(opcode) - Bth.padCount(packet, at);
    sourceHi = received.sourceHi();
    sourceLo = received.sourceLo();
    if (Opcode.rethOffset(opcode) >= 0) {
      long reth = at + Opcode.rethOffset(opcode);
      noteTarget(Reth.address(packet, reth), Reth.length(packet, reth), Reth.rkey(packet, reth));
    } else if (Opcode.atomicOffset(opcode) >= 0) {
      long eth = at + Opcode.atomicOffset(opcode);
      noteTarget(AtomicEth.address(packet, eth), Long.BYTES, AtomicEth.rkey(packet, eth));
    }
  }

  private void noteTarget(long target, long count, int rkey) {
    namesMemory = true;
    address = target;
    addressLength = count;
    key = rkey;
  }

  private void noteMemory() {
    memoryAsked =
        switch (check) {
          case LOCAL_KEY,
              LOCAL_PROTECTION_DOMAIN,
              LOCAL_RANGE,
              LOCAL_WRITE_ACCESS,
              LOCAL_MEMORY_GONE,
              REMOTE_KEY,
              REMOTE_RANGE,
              REMOTE_ACCESS ->
              true;
          default -> false;
        };
    if (!memoryAsked) {
      return;
    }
    MemoryAccess access = qp.engine().memory();
    askedAddress = access.refusedAddress();
    askedLength = access.refusedLength();
    askedKey = access.refusedKey();
    askedRights = access.refusedRights();
    askedDomain = work == null ? qp.peerDomain() : qp.protectionDomain();
    RegisteredMemory memory = access.refusedMemory();
    memoryFound = memory != null;
    if (memoryFound) {
      memoryStart = memory.start;
      memoryLength = memory.length;
      memoryRights = memory.access;
      memoryDomain = memory.protectionDomain;
      memoryQp = memory.boundQp;
    }
  }

  /** The failure in words; empty where there is none. */
  String text() {
    if (isEmpty()) {
      return "";
    }
    StringBuilder text = new StringBuilder();
    if (work != null) {
      request(text);
    } else {
      text.append("a request of the peer failed here: ");
    }
    text.append(check.text());
    limits(text);
    if (opcode != NO_PACKET) {
      packet(text);
    }
    if (memoryAsked) {
      memory(text);
    }
    return text.toString();
  }

  private void request(StringBuilder text) {
    text.append("work request ").append(id).append(" (").append(WorkOpcode.name(workOpcode)).append(" of ")
        .append(workLength).append(" bytes");
    if (workOpcode != WorkOpcode.SEND && workKey != 0) {
      text.append(String.format(" at remote address 0x%x, rkey 0x%x", workAddress, workKey));
    }
    if (qp.kind().isConnected()) {
      text.append(String.format(", PSN 0x%06x to 0x%06x", firstPsn, lastPsn));
    }
    text.append(") of queue pair ").append(qp.number());
    if (qp.kind().isConnected() && qp.settings().route != null) {
      text.append(" to queue pair ").append(qp.settings().destinationQp).append(" at ")
          .append(qp.settings().route.destination());
    }
    text.append(" failed: ");
  }

  private void limits(StringBuilder text) {
    QpSettings settings = qp.settings();
    switch (check) {
      case RETRIES_USED ->
          text.append("; retry_cnt is ").append(settings.retryCount).append(", timeout ").append(settings.timeout)
              .append(", which is ").append(settings.timeoutNanos() / NANOS_PER_MICRO).append(" us");
      case RNR_RETRIES_USED -> text.append("; rnr_retry is ").append(settings.rnrRetry);
      case PACKET_LENGTH, RESPONSE_LENGTH -> text.append("; the path MTU is ").append(settings.mtu);
      case MESSAGE_TOO_LONG -> text.append("; max_msg_sz is ").append(qp.engine().config().maxMessageSize());
      case TOO_MANY_READS -> text.append(", which is ").append(settings.maxDestinationReadAtomic);
      case QP_ACCESS -> text.append("; they are ").append(rights(settings.access));
      case RECEIVE_TOO_SHORT -> text.append("; the receive has room for ").append(held).append(" bytes");
      case SEQUENCE -> text.append(String.format("; the expected PSN is 0x%06x", expectedPsn));
      default -> {
        // No number decided.
      }
    }
  }

  private void packet(StringBuilder text) {
    text.append(". The packet was ").append(Opcode.name(opcode)).append(String.format(", PSN 0x%06x, ", psn))
        .append(length).append(" bytes of payload, from ").append(new Gid(sourceHi, sourceLo)).append(" to queue pair ")
        .append(qp.number());
    if (namesMemory) {
      text.append(String.format(", for %d bytes at 0x%x under rkey 0x%x", addressLength, address, key));
    }
  }

  private void memory(StringBuilder text) {
    text.append(String.format(". Asked for were %d bytes at 0x%x under key 0x%x", askedLength, askedAddress, askedKey));
    if (askedRights != 0) {
      text.append(" with the right ").append(rights(askedRights));
    }
    text.append(" in protection domain ").append(askedDomain);
    if (!memoryFound) {
      text.append("; no memory has this key");
      return;
    }
    text.append(String.format("; the memory has %d bytes at 0x%x", memoryLength, memoryStart));
    text.append(", protection domain ").append(memoryDomain).append(", rights ").append(rights(memoryRights));
    if (memoryQp != 0) {
      text.append(", for queue pair ").append(memoryQp).append(" only");
    }
  }

  private static void right(StringBuilder names, int bits, int bit, String name) {
    if ((bits & bit) != 0) {
      names.append(names.isEmpty() ? "" : "|").append(name);
    }
  }

  private static String rights(int bits) {
    StringBuilder names = new StringBuilder();
    String[] all = {"LOCAL_WRITE", "REMOTE_WRITE", "REMOTE_READ", "REMOTE_ATOMIC"};
    for (int i = 0; i < all.length; i++) {
      right(names, bits, 1 << i, all[i]);
    }
    right(names, bits, RegisteredMemory.FLUSH_GLOBAL, "FLUSH_GLOBAL");
    right(names, bits, RegisteredMemory.FLUSH_PERSISTENT, "FLUSH_PERSISTENT");
    return names.isEmpty() ? "none" : names.toString();
  }
}
