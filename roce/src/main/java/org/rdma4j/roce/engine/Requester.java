package org.rdma4j.roce.engine;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.rdma4j.roce.link.Link;
import org.rdma4j.roce.link.Route;
import org.rdma4j.roce.packet.AtomicEth;
import org.rdma4j.roce.packet.Bth;
import org.rdma4j.roce.packet.Deth;
import org.rdma4j.roce.packet.Feth;
import org.rdma4j.roce.packet.Ieth;
import org.rdma4j.roce.packet.ImmDt;
import org.rdma4j.roce.packet.Opcode;
import org.rdma4j.roce.packet.OpcodeFlag;
import org.rdma4j.roce.packet.Psn;
import org.rdma4j.roce.packet.Reth;
import org.rdma4j.roce.packet.Xrceth;

/**
 * Turns send work requests into packets, and sends them again from the oldest unacknowledged PSN when the completer
 * asks for it (kernel: {@code rxe_req.c}; IBA specification section 9.7).
 *
 * <p>Invariant: {@link #psn} is the PSN of the byte at {@link #offset} of the request at the send queue's next
 * position, and every PSN from the completer's to {@link #limitPsn} has been sent at least once.
 */
final class Requester {
  /** What one attempt to send a packet came to. */
  private enum Step {
    /** A packet is on its way. */
    SENT,
    /** The link has no room. */
    LINK_FULL,
    /** Something must arrive first: an acknowledge, a READ response. */
    WAITING,
    /** The request failed locally. */
    FAILED
  }

  private static final int ACKS_PER_WINDOW = 4;

  private final QpContext qp;
  private final SendQueue queue;
  private final EngineConfig config;
  private int psn;
  private int limitPsn;
  private long offset;
  private int packetsSinceAckRequest;
  private int outstandingReads;
  private int window;
  private boolean probing;

  Requester(QpContext qp, SendQueue queue, EngineConfig config) {
    this.qp = qp;
    this.queue = queue;
    this.config = config;
    this.window = config.windowPackets();
  }

  /** Begins with a first PSN; nothing is outstanding. */
  void start(int firstPsn) {
    psn = firstPsn & Psn.MASK;
    limitPsn = psn;
    offset = 0;
    packetsSinceAckRequest = 0;
    outstandingReads = 0;
    window = config.windowPackets();
  }

  /** PSN of the next packet. */
  int psn() {
    return psn;
  }

  /** First PSN that was never sent. */
  int limitPsn() {
    return limitPsn;
  }

  /** One request that has a response of its own has been answered in full. */
  void readAnswered() {
    if (outstandingReads > 0) {
      outstandingReads--;
    }
  }

  /** Acknowledged packets let the window grow again, by one for each round trip. */
  void grow() {
    if (window < config.windowPackets()) {
      window++;
    }
  }

  /** Loss halves the window. */
  void shrink() {
    window = Math.min(config.windowPackets(), Math.max(EngineConfig.MIN_WINDOW, window >> 1));
  }

  /** The message under way is given up: what follows begins anew. */
  void abandon() {
    offset = 0;
  }

  /** Goes on from the completer's PSN, whether that lies before (retransmission) or after what is being sent. */
  void restart(int fromPsn) {
    queue.rewind();
    psn = fromPsn;
    offset = 0;
    outstandingReads = 0;
    packetsSinceAckRequest = 0;
    SendWork work = queue.oldest();
    if (work != null && work.progress == SendWork.STARTED) {
      offset = (long) Psn.distance(work.firstPsn, fromPsn) * qp.settings().mtu;
    }
  }

  /** Whether all that was begun has been sent, and nothing of it is being sent again. */
  boolean isUpToDate() {
    return psn == limitPsn;
  }

  /**
   * Sends the oldest packet that is not acknowledged once more, alone, and asks for an acknowledge: the peer tells what
   * it has. What was sent after it may be there, or on its way.
   */
  void probe(Link link) {
    SendWork work = queue.oldest();
    if (!isUpToDate() || work == null || work.progress != SendWork.STARTED) {
      return;
    }
    final int psnAfter = psn;
    final long offsetAfter = offset;
    final int packetsAfter = packetsSinceAckRequest;
    final int readsAfter = outstandingReads;
    final long positionAfter = queue.position();
    restart(qp.completer().psn());
    probing = true;
    send(work, link);
    probing = false;
    queue.goTo(positionAfter);
    psn = psnAfter;
    offset = offsetAfter;
    packetsSinceAckRequest = packetsAfter;
    outstandingReads = readsAfter;
  }

  /**
   * Sends what may be sent.
   *
   * @return true when more could be sent at once, were there room in the link or in the budget
   */
  boolean transmit(Link link, int budget) {
    int left = budget;
    while (left > 0) {
      SendWork work = queue.next();
      if (work == null || work.progress == SendWork.FAILED) {
        return false;
      }
      if (work.progress == SendWork.DONE) {
        queue.advance();
        continue;
      }
      if (work.progress == SendWork.POSTED && !begin(work)) {
        return false;
      }
      if (work.progress != SendWork.STARTED) {
        continue;
      }
      switch (send(work, link)) {
        case SENT -> left--;
        case LINK_FULL -> {
          return true;
        }
        default -> {
          return false;
        }
      }
    }
    return true;
  }

  /** Looks at a request for the first time; false when it has to wait, or has failed. */
  private boolean begin(SendWork work) {
    if (qp.state() == TransportState.SQD) {
      return false;
    }
    if ((work.fence && outstandingReads > 0) || (work.opcode == WorkOpcode.LOCAL_INV && !queue.nextIsOldest())) {
      return false;
    }
    if (work.malformed != FailedCheck.NONE) {
      return fail(work, CompletionStatus.LOCAL_QP_OPERATION_ERROR, work.malformed);
    }
    if (WorkOpcode.isLocal(work.opcode)) {
      return executeLocal(work);
    }
    if (PacketOpcodes.select(qp.kind(), work.opcode, true, true) < 0) {
      return fail(work, CompletionStatus.LOCAL_QP_OPERATION_ERROR, FailedCheck.OPCODE);
    }
    if (work.length > (work.opcode == WorkOpcode.FLUSH ? EngineConfig.MAX_DMA_LENGTH : config.maxMessageSize())) {
      return fail(work, CompletionStatus.LOCAL_LENGTH_ERROR, FailedCheck.MESSAGE_TOO_LONG);
    }
    if (qp.kind().isDatagram()) {
      return beginDatagram(work);
    }
    if (WorkOpcode.hasResponse(work.opcode) && qp.settings().maxReadAtomic == 0) {
      return fail(work, CompletionStatus.LOCAL_QP_OPERATION_ERROR, FailedCheck.READ_DEPTH);
    }
    FailedCheck shape = checkShape(work);
    if (shape != FailedCheck.NONE) {
      return fail(work, CompletionStatus.LOCAL_QP_OPERATION_ERROR, shape);
    }
    int mtu = qp.settings().mtu;
    boolean single = WorkOpcode.hasResponse(work.opcode) && work.opcode != WorkOpcode.RDMA_READ;
    int packets = single ? 1 : (int) Math.max(1, (work.length + mtu - 1) / mtu);
    work.firstPsn = psn;
    work.lastPsn = Psn.add(psn, packets - 1);
    work.progress = SendWork.STARTED;
    return true;
  }

  /** What an operation with operands of fixed size needs. */
  private static FailedCheck checkShape(SendWork work) {
    if (WorkOpcode.isAtomic(work.opcode) || work.opcode == WorkOpcode.ATOMIC_WRITE) {
      boolean fits = WorkOpcode.isAtomic(work.opcode) ? work.length >= Long.BYTES : work.length == Long.BYTES;
      if (!fits || (work.remoteAddress & 7) != 0) {
        return FailedCheck.ATOMIC_SHAPE;
      }
      work.length = Long.BYTES;
    } else if (work.opcode == WorkOpcode.FLUSH) {
      boolean placed = work.placement != 0 && (work.placement & ~(Feth.GLOBAL | Feth.PERSISTENT)) == 0;
      if (!placed || work.selectivity < Feth.RANGE || work.selectivity > Feth.REGION) {
        return FailedCheck.FLUSH_SHAPE;
      }
    }
    return FailedCheck.NONE;
  }

  private boolean beginDatagram(SendWork work) {
    if (work.length > config.portMtu()) {
      // IBA specification C10-93.1.1: no packet, and no error either.
      work.progress = SendWork.DONE;
      queue.advance();
      qp.completer().completeDone();
      return true;
    }
    if (work.route == null) {
      return fail(work, CompletionStatus.LOCAL_QP_OPERATION_ERROR, FailedCheck.ADDRESS_HANDLE);
    }
    work.firstPsn = psn;
    work.lastPsn = psn;
    work.progress = SendWork.STARTED;
    return true;
  }

  private boolean executeLocal(SendWork work) {
    FailedCheck check = qp.host().executeLocal(work);
    if (check != FailedCheck.NONE) {
      return fail(
          work,
          work.opcode == WorkOpcode.BIND_MW
              ? CompletionStatus.MEMORY_WINDOW_BIND_ERROR
              : CompletionStatus.LOCAL_QP_OPERATION_ERROR,
          check);
    }
    work.progress = SendWork.DONE;
    queue.advance();
    qp.completer().completeDone();
    return true;
  }

  /** The request fails when those before it are complete. */
  private boolean fail(SendWork work, CompletionStatus status, FailedCheck check) {
    qp.failure().ofRequest(work, check);
    work.progress = SendWork.FAILED;
    work.status = status;
    work.check = check;
    qp.completer().completeDone();
    return false;
  }

  private Step send(SendWork work, Link link) {
    if (qp.kind().isReliable() && Psn.distance(qp.completer().psn(), psn) >= window) {
      return Step.WAITING;
    }
    if (!WorkOpcode.hasResponse(work.opcode)) {
      return sendData(work, link);
    }
    if (outstandingReads >= qp.settings().maxReadAtomic) {
      return Step.WAITING;
    }
    return switch (work.opcode) {
      case WorkOpcode.RDMA_READ -> sendRead(work, link);
      case WorkOpcode.ATOMIC_WRITE -> sendAtomicWrite(work, link);
      case WorkOpcode.FLUSH -> sendFlush(work, link);
      default -> sendAtomic(work, link);
    };
  }

  private Step sendRead(SendWork work, Link link) {
    int mtu = qp.settings().mtu;
    long end = readChunkEnd(offset, work.length, mtu);
    int opcode = PacketOpcodes.select(qp.kind(), WorkOpcode.RDMA_READ, true, true);
    long at = link.claim(qp.settings().route, Opcode.headerLength(opcode));
    if (at < 0) {
      return Step.LINK_FULL;
    }
    MemorySegment packet = link.transmitMemory();
    writeBth(packet, at, opcode, false, 0, true);
    Reth.write(
        packet,
        at + Opcode.rethOffset(opcode),
        work.remoteAddress + offset,
        work.remoteKey,
        end - offset);
    outstandingReads++;
    sent(link, (int) Math.max(1, (end - offset + mtu - 1) / mtu));
    offset = end;
    if (offset >= work.length) {
      finishPass();
    }
    return Step.SENT;
  }

  /** Where the READ request that asks for {@code from} ends: chunks begin at multiples of the chunk length. */
  long readChunkEnd(long from, long length, int mtu) {
    long chunk = (long) config.readChunkPackets() * mtu;
    return Math.min(length, (from / chunk + 1) * chunk);
  }

  private Step sendAtomic(SendWork work, Link link) {
    int opcode = PacketOpcodes.select(qp.kind(), work.opcode, true, true);
    long at = link.claim(qp.settings().route, Opcode.headerLength(opcode));
    if (at < 0) {
      return Step.LINK_FULL;
    }
    MemorySegment packet = link.transmitMemory();
    writeBth(packet, at, opcode, false, 0, true);
    boolean swap = work.opcode == WorkOpcode.ATOMIC_CMP_AND_SWP;
    AtomicEth.write(
        packet,
        at + Opcode.atomicOffset(opcode),
        work.remoteAddress,
        work.remoteKey,
        swap ? work.swap : work.compareAdd,
        swap ? work.compareAdd : 0);
    sentForResponse(link);
    return Step.SENT;
  }

  private Step sendAtomicWrite(SendWork work, Link link) {
    int opcode = PacketOpcodes.select(qp.kind(), WorkOpcode.ATOMIC_WRITE, true, true);
    int header = Opcode.headerLength(opcode);
    long at = link.claim(qp.settings().route, header + Long.BYTES);
    if (at < 0) {
      return Step.LINK_FULL;
    }
    MemorySegment packet = link.transmitMemory();
    FailedCheck check = copyPayload(work, packet, at + header, Long.BYTES);
    if (check != FailedCheck.NONE) {
      link.abort();
      return withoutMemory(work, check);
    }
    writeBth(packet, at, opcode, false, 0, true);
    Reth.write(packet, at + Opcode.rethOffset(opcode), work.remoteAddress, work.remoteKey, Long.BYTES);
    sentForResponse(link);
    return Step.SENT;
  }

  private Step sendFlush(SendWork work, Link link) {
    int opcode = PacketOpcodes.select(qp.kind(), WorkOpcode.FLUSH, true, true);
    long at = link.claim(qp.settings().route, Opcode.headerLength(opcode));
    if (at < 0) {
      return Step.LINK_FULL;
    }
    MemorySegment packet = link.transmitMemory();
    writeBth(packet, at, opcode, false, 0, true);
    Feth.write(packet, at + Opcode.fethOffset(opcode), work.placement, work.selectivity);
    Reth.write(packet, at + Opcode.rethOffset(opcode), work.remoteAddress, work.remoteKey, work.length);
    sentForResponse(link);
    return Step.SENT;
  }

  /** A request of one packet is on its way that has a response of its own. */
  private void sentForResponse(Link link) {
    outstandingReads++;
    sent(link, 1);
    finishPass();
  }

  private Step sendData(SendWork work, Link link) {
    boolean datagram = qp.kind().isDatagram();
    int mtu = datagram ? config.portMtu() : qp.settings().mtu;
    int payload = (int) Math.min(mtu, work.length - offset);
    boolean start = offset == 0;
    boolean end = offset + payload == work.length;
    int opcode = PacketOpcodes.select(qp.kind(), work.opcode, start, end);
    int header = Opcode.headerLength(opcode);
    int pad = -payload & 3;
    Route route = datagram ? work.route : qp.settings().route;
    long at = link.claim(route, header + payload + pad);
    if (at < 0) {
      return Step.LINK_FULL;
    }
    MemorySegment packet = link.transmitMemory();
    FailedCheck check = copyPayload(work, packet, at + header, payload);
    if (check != FailedCheck.NONE) {
      link.abort();
      return withoutMemory(work, check);
    }
    for (int i = 0; i < pad; i++) {
      packet.set(ValueLayout.JAVA_BYTE, at + header + payload + i, (byte) 0);
    }
    boolean solicited = work.solicited && end && work.opcode != WorkOpcode.RDMA_WRITE;
    writeBth(packet, at, opcode, solicited, pad, asksForAck(end));
    if (datagram) {
      Deth.write(packet, at + Opcode.dethOffset(opcode), qp.qkeyFor(work), qp.number());
    }
    writeExtended(work, packet, at, opcode);
    sent(link, 1);
    offset += payload;
    if (end) {
      finishPass();
      if (!qp.kind().isReliable()) {
        work.progress = SendWork.DONE;
        qp.completer().completeDone();
      }
    }
    return Step.SENT;
  }

  /** What was to be sent cannot be read. A probe is none of the user's business. */
  private Step withoutMemory(SendWork work, FailedCheck check) {
    if (probing) {
      return Step.WAITING;
    }
    fail(work, CompletionStatus.LOCAL_PROTECTION_ERROR, check);
    return Step.FAILED;
  }

  private void writeExtended(SendWork work, MemorySegment packet, long at, int opcode) {
    int flags = Opcode.flags(opcode);
    if ((flags & OpcodeFlag.WRITE) != 0 && (flags & OpcodeFlag.START) != 0) {
      Reth.write(packet, at + Opcode.rethOffset(opcode), work.remoteAddress, work.remoteKey, work.length);
    }
    if ((flags & OpcodeFlag.IMMEDIATE) != 0) {
      ImmDt.write(packet, at + Opcode.immOffset(opcode), work.immediate);
    }
    if ((flags & OpcodeFlag.INVALIDATE) != 0) {
      Ieth.write(packet, at + Opcode.iethOffset(opcode), work.immediate);
    }
  }

  private FailedCheck copyPayload(SendWork work, MemorySegment packet, long at, int payload) {
    if (payload == 0) {
      return FailedCheck.NONE;
    }
    if (work.inlineLength >= 0) {
      MemorySegment.copy(work.inlineMemory, work.inlineOffset + offset, packet, at, payload);
      return FailedCheck.NONE;
    }
    return qp.engine().memory().gather(work.sge, offset, packet, at, payload, qp.protectionDomain());
  }

  /** After a loss several acknowledges come in each window, so that one that gets lost does not cost a timeout. */
  private int packetsPerAckRequest() {
    return window == config.windowPackets()
        ? EngineConfig.PACKETS_PER_ACK_REQUEST
        : Math.min(EngineConfig.PACKETS_PER_ACK_REQUEST, window / ACKS_PER_WINDOW);
  }

  private boolean asksForAck(boolean end) {
    if (qp.kind() == QpKind.GSI) {
      return true;
    }
    if (!qp.kind().isReliable()) {
      return false;
    }
    boolean windowEnds = Psn.distance(qp.completer().psn(), psn) + 1 >= window;
    return end || windowEnds || probing || packetsSinceAckRequest > packetsPerAckRequest();
  }

  private void writeBth(
      MemorySegment packet, long at, int opcode, boolean solicited, int pad, boolean ackRequest) {
    boolean connected = qp.kind().isConnected();
    int destination = connected ? qp.settings().destinationQp : queue.next().remoteQp;
    int pkey =
        qp.kind() == QpKind.GSI ? qp.engine().pkeys().get(queue.next().pkeyIndex) : qp.settings().pkey;
    Bth.write(packet, at, opcode, solicited, pad, pkey, destination, ackRequest, psn);
    int xrceth = Opcode.xrcethOffset(opcode);
    if (xrceth >= 0) {
      Xrceth.write(packet, at + xrceth, queue.next().xrcSrq);
    }
    packetsSinceAckRequest = ackRequest ? 0 : packetsSinceAckRequest + 1;
  }

  /** A packet that uses up PSNs is complete. */
  private void sent(Link link, int psns) {
    link.commit();
    qp.engine().counters().increment(EngineCounter.SENT_PKTS);
    psn = Psn.add(psn, psns);
    if (Psn.compare(psn, limitPsn) > 0) {
      limitPsn = psn;
    }
    if (qp.kind().isReliable()) {
      qp.completer().startTimer();
    }
  }

  private void finishPass() {
    queue.advance();
    offset = 0;
  }
}
