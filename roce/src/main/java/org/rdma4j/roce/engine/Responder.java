package org.rdma4j.roce.engine;

import java.lang.foreign.MemorySegment;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.link.Link;
import org.rdma4j.roce.link.ReceivedPacket;
import org.rdma4j.roce.packet.Bth;
import org.rdma4j.roce.packet.Ieth;
import org.rdma4j.roce.packet.ImmDt;
import org.rdma4j.roce.packet.Opcode;
import org.rdma4j.roce.packet.OpcodeFlag;
import org.rdma4j.roce.packet.Reth;

/**
 * Executes the requests of a peer. What the services share is here: the receive held for the message under way, the
 * target of the WRITE under way, and completions (kernel: {@code rxe_resp.c}).
 */
abstract sealed class Responder permits ReliableResponder, UnreliableResponder, DatagramResponder {
  /** What kind of message is between its first and its last packet. */
  enum Message {
    NONE,
    SEND,
    WRITE
  }

  final QpContext qp;
  private final Completion completion;
  private final ReceiveWork receive;
  private ReceiveSource receives;
  private XrcReceiveSource extended; // the same, of an extended reliable connection
  private int domain;
  private boolean holdsReceive;
  private CompletionStatus receiveEnd = CompletionStatus.FLUSHED;
  private FailedCheck receiveCheck = FailedCheck.FLUSH;
  private long receivedBytes;

  Message message = Message.NONE;
  private long writeAddress;
  private long writeLeft;
  private long writeLength;
  private int writeKey;

  Responder(QpContext qp, Completion completion, int maxReceiveSge) {
    this.qp = qp;
    this.completion = completion;
    this.receive = new ReceiveWork(maxReceiveSge);
    this.receives = qp.receives();
    this.domain = qp.protectionDomain();
  }

  /** Begins with the PSN expected first. */
  void start(int firstPsn) {
    message = Message.NONE;
  }

  /** Takes one request packet whose queue pair, service, keys and addresses were found right. */
  abstract void onRequest(ReceivedPacket received, MemorySegment packet, long at, int length, int opcode);

  /**
   * Sends responses that are due.
   *
   * @return packets sent, or -1 when the link is full
   */
  int respond(Link link, int budget) {
    return 0;
  }

  /**
   * Sends the acknowledge that is due, or lets it wait for the next duty cycle.
   *
   * @param sentRequests whether requests have just been written, with which it can go
   */
  void acknowledge(Link link, boolean sentRequests) {}

  /** The user ends the queue pair: what was executed is acknowledged now, so that the peer need not ask in vain. */
  void settle(Link link) {}

  /** {@return whether a response is due} */
  boolean hasResponses() {
    return false;
  }

  /** Next PSN expected. */
  int expectedPsn() {
    return 0;
  }

  /** Makes room for the responses that {@code max_dest_rd_atomic} allows. */
  void resize(int responses) {}

  /** The request is for this shared queue: its receives, its protection domain, its completion queue. */
  final void select(XrcReceiveSource source) {
    extended = source;
    receives = source;
    domain = source.protectionDomain();
  }

  /** The shared queue of the request, or null on services that have none or one for all. */
  final XrcReceiveSource selected() {
    return extended;
  }

  /** The protection domain that memory is checked against. */
  final int protectionDomain() {
    return domain;
  }

  /** Makes sure that a receive is held for the message; false when none is posted. */
  final boolean holdReceive() {
    if (!holdsReceive && receives.take(receive)) {
      holdsReceive = true;
      receivedBytes = 0;
    }
    return holdsReceive;
  }

  final boolean holdsReceive() {
    return holdsReceive;
  }

  /** A message was given up: its receive serves the next one from the beginning. */
  final void reuseReceive() {
    receivedBytes = 0;
  }

  /** Puts payload of a SEND behind what the held receive has already. */
  final FailedCheck receivePayload(MemorySegment packet, long at, int count) {
    if (receivedBytes + count > receive.sge.total()) {
      return FailedCheck.RECEIVE_TOO_SHORT;
    }
    FailedCheck check =
        count == 0
            ? FailedCheck.NONE
            : qp.engine().memory().scatter(receive.sge, receivedBytes, packet, at, count, domain);
    if (check == FailedCheck.NONE) {
      receivedBytes += count;
    }
    return check;
  }

  /** Takes the target of a WRITE from its first packet and checks it as a whole. */
  final FailedCheck beginWrite(MemorySegment packet, long at, int opcode) {
    long reth = at + Opcode.rethOffset(opcode);
    writeAddress = Reth.address(packet, reth);
    writeKey = Reth.rkey(packet, reth);
    writeLength = Reth.length(packet, reth);
    writeLeft = writeLength;
    if (writeLength > EngineConfig.MAX_DMA_LENGTH) {
      return FailedCheck.DMA_LENGTH;
    }
    // IBA specification C9-88: a WRITE of length zero does not look at the key.
    return writeLength == 0 ? FailedCheck.NONE : checkWriteTarget(writeLength);
  }

  private FailedCheck checkWriteTarget(long count) {
    return qp.engine()
        .memory()
        .checkRemote(
            writeKey, domain, qp.number(), RegisteredMemory.REMOTE_WRITE, writeAddress, count);
  }

  /** Whether this packet's payload is what the WRITE still needs: all of it in the last packet, less before. */
  final boolean writeLengthFits(int payload, boolean end) {
    return end ? payload == writeLeft : payload < writeLeft;
  }

  /** Puts payload of a WRITE where it belongs; the key is looked at again for each packet. */
  final FailedCheck writePayload(MemorySegment packet, long at, int count) {
    if (count == 0) {
      return FailedCheck.NONE;
    }
    FailedCheck check = checkWriteTarget(count);
    if (check != FailedCheck.NONE) {
      return check;
    }
    if (!qp.engine().memory().memory(writeKey).write(writeAddress, packet, at, count)) {
      return FailedCheck.REMOTE_MEMORY_GONE;
    }
    writeAddress += count;
    writeLeft -= count;
    return FailedCheck.NONE;
  }

  /** Whether the opcode may follow what came before it. */
  final boolean inSequence(int flags) {
    if ((flags & OpcodeFlag.START) != 0) {
      return message == Message.NONE;
    }
    return message == ((flags & OpcodeFlag.SEND) != 0 ? Message.SEND : Message.WRITE);
  }

  /** Notes what is under way after a packet. */
  final void follow(int flags) {
    if ((flags & OpcodeFlag.END) != 0) {
      message = Message.NONE;
    } else {
      message = (flags & OpcodeFlag.SEND) != 0 ? Message.SEND : Message.WRITE;
    }
  }

  /** IBA specification section 9.7.4.1.6: first and middle packets are full, last ones not empty. */
  final boolean packetLengthFits(int flags, int payload, int pad) {
    int mtu = qp.settings().mtu;
    if ((flags & OpcodeFlag.END) == 0) {
      return payload == mtu && pad == 0;
    }
    return payload <= mtu && (payload > 0 || (flags & OpcodeFlag.START) != 0);
  }

  /** Completes the held receive with success. */
  final void completeReceive(MemorySegment packet, long at, int opcode, int flags, int extraBytes, int sourceQp) {
    boolean write = (flags & OpcodeFlag.WRITE) != 0;
    completion.opcode = write ? Completion.OPCODE_RECEIVE_RDMA_WITH_IMM : Completion.OPCODE_RECEIVE;
    completion.byteLength = (int) (write ? writeLength : receivedBytes + extraBytes);
    completion.flags = Completion.GRH;
    completion.immediate = 0;
    if ((flags & OpcodeFlag.IMMEDIATE) != 0) {
      completion.flags |= Completion.WITH_IMMEDIATE;
      completion.immediate = ImmDt.value(packet, at + Opcode.immOffset(opcode));
    } else if ((flags & OpcodeFlag.INVALIDATE) != 0) {
      completion.flags |= Completion.WITH_INVALIDATE;
      completion.immediate = Ieth.rkey(packet, at + Opcode.iethOffset(opcode));
    }
    completion.sourceQp = sourceQp;
    ReceivedPacket received = qp.engine().currentPacket();
    completion.ipv4 = received != null && Gid.isIpv4Mapped(received.sourceHi(), received.sourceLo());
    completion.pkeyIndex = qp.kind().isDatagram() ? qp.engine().pkeys().admittedIndex() : 0;
    finishReceive(CompletionStatus.SUCCESS, FailedCheck.NONE, Bth.solicited(packet, at));
  }

  /**
   * The held receive, if there is one, ends with this error when the queue pair enters the error state, which is soon;
   * not before, so that who sees the completion sees the state. The first error counts.
   */
  final void failReceive(CompletionStatus status, FailedCheck check) {
    qp.failure().ofPeer(check, expectedPsn(), holdsReceive ? receive.sge.total() : 0);
    if (holdsReceive && receiveEnd == CompletionStatus.FLUSHED) {
      receiveEnd = status;
      receiveCheck = check;
    }
  }

  /** The own receive names memory it may not write: that is no fault of the packet, and ends the queue pair. */
  final void failLocally(FailedCheck check) {
    failReceive(CompletionStatus.LOCAL_PROTECTION_ERROR, check);
    qp.enterError();
  }

  private void finishReceive(CompletionStatus status, FailedCheck check, boolean solicited) {
    completion.id = receive.id;
    completion.status = status;
    completion.check = check;
    completion.qpNumber = qp.number();
    holdsReceive = false;
    if (extended != null) {
      extended.completeReceive(completion, solicited);
    } else {
      qp.host().completeReceive(completion, solicited);
    }
    completion.pkeyIndex = 0;
    qp.engine().counters().increment(EngineCounter.RDMA_RECVS);
  }

  /** Completes the held receive with the error that was noted, everything else in the own queue as flushed. */
  final void flush() {
    if (holdsReceive) {
      endReceive(receiveEnd, receiveCheck);
    }
    forgetFailure();
    message = Message.NONE;
    if (!receives.isShared()) {
      while (holdReceive()) {
        endReceive(CompletionStatus.FLUSHED, FailedCheck.FLUSH);
      }
    }
  }

  private void endReceive(CompletionStatus status, FailedCheck check) {
    completion.opcode = Completion.OPCODE_RECEIVE;
    completion.byteLength = 0;
    completion.flags = 0;
    completion.immediate = 0;
    completion.sourceQp = 0;
    finishReceive(status, check, true);
  }

  private void forgetFailure() {
    receiveEnd = CompletionStatus.FLUSHED;
    receiveCheck = FailedCheck.FLUSH;
  }

  /** Forgets receives without completing them; for RESET. */
  void discard() {
    holdsReceive = false;
    forgetFailure();
    message = Message.NONE;
    if (!receives.isShared()) {
      while (holdReceive()) {
        holdsReceive = false;
      }
    }
  }
}
