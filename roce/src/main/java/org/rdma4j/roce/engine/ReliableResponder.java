package org.rdma4j.roce.engine;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import org.rdma4j.roce.link.Link;
import org.rdma4j.roce.link.ReceivedPacket;
import org.rdma4j.roce.packet.Aeth;
import org.rdma4j.roce.packet.AtomicAckEth;
import org.rdma4j.roce.packet.AtomicEth;
import org.rdma4j.roce.packet.Bth;
import org.rdma4j.roce.packet.Feth;
import org.rdma4j.roce.packet.Ieth;
import org.rdma4j.roce.packet.Opcode;
import org.rdma4j.roce.packet.OpcodeFlag;
import org.rdma4j.roce.packet.Psn;
import org.rdma4j.roce.packet.Reth;
import org.rdma4j.roce.packet.Syndrome;
import org.rdma4j.roce.packet.Xrceth;

/**
 * Responder of a reliable connection (kernel: {@code rxe_resp.c}; IBA specification sections 9.7.2 to 9.7.5). Each
 * request is executed exactly once; responses leave in the order of their PSNs: an acknowledge waits until the READ
 * responses before it are out, and one acknowledge stands for all before it.
 *
 * <p>An acknowledge that is not negative also waits for the next duty cycle, because the answer of a user may be posted
 * by then: request and acknowledge leave in one call and, as the shorter comes last, in one datagram. Where a user
 * sends his answer himself it leaves alone, before the acknowledge: the peer waits for the answer. While each duty
 * cycle brings more packets of the same kind one acknowledge in a while is enough.
 */
final class ReliableResponder extends Responder {
  private static final int NONE = -1;

  /** Half of the usual window: who sends without end does not wait for an acknowledge that is held back. */
  private static final int MOST_UNACKNOWLEDGED_PACKETS = 64;

  /** Nor does who has few short messages under way. */
  private static final int MOST_UNACKNOWLEDGED_MESSAGES = 4;

  /** Requests with a response of their own. */
  private static final int ANSWERED =
      OpcodeFlag.READ | OpcodeFlag.ATOMIC | OpcodeFlag.ATOMIC_WRITE | OpcodeFlag.FLUSH;

  private final int transport;
  private final ReplyRing replies = new ReplyRing();
  private final long[] atomicOriginal = new long[1];
  private int expectedPsn;
  private int msn;
  private int dueSyndrome = NONE;
  private int duePsn;
  private long dueCycle;
  private long executedCycle;
  private int unacknowledged;
  private int acknowledgedMsn;
  private boolean acknowledgeFirst;
  private boolean nakSent;
  private boolean failing;
  private QpEvent failure;

  ReliableResponder(QpContext qp, Completion completion, int maxReceiveSge) {
    super(qp, completion, maxReceiveSge);
    transport = qp.kind().transport();
  }

  @Override
  void start(int firstPsn) {
    super.start(firstPsn);
    expectedPsn = firstPsn & Psn.MASK;
    msn = 0;
    unacknowledged = 0;
    acknowledgedMsn = 0;
    dueSyndrome = NONE;
    acknowledgeFirst = false;
    nakSent = false;
    failing = false;
    replies.clear();
  }

  @Override
  void discard() {
    super.discard();
    replies.clear();
    dueSyndrome = NONE;
    acknowledgeFirst = false;
  }

  @Override
  void resize(int responses) {
    replies.resize(responses);
  }

  @Override
  int expectedPsn() {
    return expectedPsn;
  }

  @Override
  boolean hasResponses() {
    return dueSyndrome != NONE || replies.isPending();
  }

  @Override
  void onRequest(ReceivedPacket received, MemorySegment packet, long at, int length, int opcode) {
    if (failing) {
      return; // The NAK that ends this queue pair waits for READ responses before it.
    }
    int psn = Bth.psn(packet, at);
    int ahead = Psn.compare(psn, expectedPsn);
    if (ahead > 0) {
      onGap();
    } else if (ahead < 0) {
      onDuplicate(packet, at, opcode, psn);
    } else {
      nakSent = false;
      if (dueSyndrome != Syndrome.ACK_NO_CREDIT_LIMIT) {
        dueSyndrome = NONE; // What was refused or missing is here now.
      }
      execute(packet, at, length, opcode, psn);
    }
    if (hasResponses()) {
      qp.engine().schedule(qp);
    }
  }

  /** IBA specification section 9.7.5.2.4: one NAK for a gap, silence until the missing packet arrives. */
  private void onGap() {
    qp.engine().counters().increment(EngineCounter.OUT_OF_SEQ_REQUEST);
    if (!nakSent) {
      nakSent = true;
      due(Syndrome.NAK_SEQUENCE, expectedPsn);
    }
  }

  private void onDuplicate(MemorySegment packet, long at, int opcode, int psn) {
    qp.engine().counters().increment(EngineCounter.DUPLICATE_REQUEST);
    int flags = Opcode.flags(opcode);
    if ((flags & ANSWERED) == 0) {
      if (dueSyndrome == NONE) {
        due(Syndrome.ACK_NO_CREDIT_LIMIT, Psn.add(expectedPsn, -1));
      }
      return;
    }
    ReplyRing.Reply reply = replies.find(psn);
    if (reply == null || reply.kind != replyKind(flags)) {
      return;
    }
    if (reply.kind != ReplyRing.Kind.READ) {
      replies.replay(reply, 0, 0);
      return;
    }
    // IBA specification section 9.7.5.1.5: a duplicate may ask for a part of what was asked, from a packet's start on.
    long position = (long) Psn.distance(reply.firstPsn, psn) * qp.settings().mtu;
    long reth = at + Opcode.rethOffset(opcode);
    long length = Reth.length(packet, reth);
    if (Reth.rkey(packet, reth) == reply.key
        && Reth.address(packet, reth) == reply.address + position
        && length <= reply.length - position
        && (length > 0 || reply.length == 0)) {
      replies.replay(reply, position, position + length);
    }
  }

  private static ReplyRing.Kind replyKind(int flags) {
    if ((flags & OpcodeFlag.READ) != 0) {
      return ReplyRing.Kind.READ;
    }
    return (flags & OpcodeFlag.ATOMIC) != 0 ? ReplyRing.Kind.ATOMIC : ReplyRing.Kind.EMPTY;
  }

  private void execute(MemorySegment packet, long at, int length, int opcode, int psn) {
    int flags = Opcode.flags(opcode);
    if (!inSequence(flags)) {
      invalidRequest(FailedCheck.SEQUENCE, psn);
      return;
    }
    if (qp.kind() == QpKind.XRC_TGT && !findReceives(packet, at, opcode, flags)) {
      failReceive(CompletionStatus.REMOTE_INVALID_REQUEST, FailedCheck.XRC_SRQ);
      fail(Syndrome.NAK_INVALID_REQUEST, psn, QpEvent.ACCESS_ERROR);
      return;
    }
    int header = Opcode.headerLength(opcode);
    int pad = Bth.padCount(packet, at);
    int payload = length - header - pad;
    if ((flags & OpcodeFlag.SEND) != 0) {
      executeSend(packet, at, opcode, flags, payload, pad, psn);
    } else if ((flags & OpcodeFlag.WRITE) != 0) {
      executeWrite(packet, at, opcode, flags, payload, pad, psn);
    } else if ((flags & OpcodeFlag.ATOMIC_WRITE) != 0) {
      executeAtomicWrite(packet, at, opcode, payload, pad, psn);
    } else if (payload + pad != 0) {
      invalidRequest(FailedCheck.PACKET_LENGTH, psn);
    } else if ((flags & OpcodeFlag.READ) != 0) {
      executeRead(packet, at, opcode, psn);
    } else if ((flags & OpcodeFlag.FLUSH) != 0) {
      executeFlush(packet, at, opcode, psn);
    } else {
      executeAtomic(packet, at, opcode, psn);
    }
  }

  /** IBA annex A14: the queue must be of the domain of this queue pair, and the same from first to last packet. */
  private boolean findReceives(MemorySegment packet, long at, int opcode, int flags) {
    XrcReceiveSource found = qp.host().xrcReceives(Xrceth.srq(packet, at + Opcode.xrcethOffset(opcode)));
    if (found == null || ((flags & OpcodeFlag.START) == 0 && found != selected())) {
      return false;
    }
    select(found);
    return true;
  }

  private void executeSend(MemorySegment packet, long at, int opcode, int flags, int payload, int pad, int psn) {
    if (!packetLengthFits(flags, payload, pad)) {
      invalidRequest(FailedCheck.PACKET_LENGTH, psn);
      return;
    }
    if (!holdReceive()) {
      receiverNotReady(psn);
      return;
    }
    FailedCheck check = receivePayload(packet, at + Opcode.headerLength(opcode), payload);
    if (check == FailedCheck.RECEIVE_TOO_SHORT) {
      failReceive(CompletionStatus.LOCAL_LENGTH_ERROR, check);
      invalidRequest(check, psn);
      return;
    }
    if (check != FailedCheck.NONE) {
      failReceive(CompletionStatus.LOCAL_PROTECTION_ERROR, check);
      fail(Syndrome.NAK_REMOTE_OPERATIONAL, psn, null);
      return;
    }
    if ((flags & OpcodeFlag.INVALIDATE) != 0) {
      check = qp.host().invalidate(Ieth.rkey(packet, at + Opcode.iethOffset(opcode)), protectionDomain());
      if (check != FailedCheck.NONE) {
        failReceive(CompletionStatus.REMOTE_INVALID_REQUEST, check);
        fail(Syndrome.NAK_REMOTE_ACCESS, psn, QpEvent.ACCESS_ERROR);
        return;
      }
    }
    executed(packet, at, opcode, flags, psn);
  }

  private void executeWrite(MemorySegment packet, long at, int opcode, int flags, int payload, int pad, int psn) {
    if ((qp.settings().access & RegisteredMemory.REMOTE_WRITE) == 0) {
      invalidRequest(FailedCheck.QP_ACCESS, psn);
      return;
    }
    if (!packetLengthFits(flags, payload, pad)) {
      invalidRequest(FailedCheck.PACKET_LENGTH, psn);
      return;
    }
    FailedCheck check = (flags & OpcodeFlag.START) != 0 ? beginWrite(packet, at, opcode) : FailedCheck.NONE;
    if (check == FailedCheck.DMA_LENGTH || !writeLengthFits(payload, (flags & OpcodeFlag.END) != 0)) {
      invalidRequest(FailedCheck.DMA_LENGTH, psn);
      return;
    }
    if (check != FailedCheck.NONE) {
      accessError(check, psn);
      return;
    }
    if ((flags & OpcodeFlag.CONSUMES_RECEIVE) != 0 && !holdReceive()) {
      receiverNotReady(psn);
      return;
    }
    check = writePayload(packet, at + Opcode.headerLength(opcode), payload);
    if (check != FailedCheck.NONE) {
      accessError(check, psn);
      return;
    }
    executed(packet, at, opcode, flags, psn);
  }

  /** A packet of a SEND or a WRITE has had its effect. */
  private void executed(MemorySegment packet, long at, int opcode, int flags, int psn) {
    follow(flags);
    executedCycle = qp.engine().cycleNumber();
    unacknowledged++;
    expectedPsn = Psn.add(psn, 1);
    if ((flags & OpcodeFlag.END) != 0) {
      msn = msn + 1 & Psn.MASK;
    }
    if ((flags & OpcodeFlag.COMPLETES) != 0) {
      completeReceive(packet, at, opcode, flags, 0, qp.kind() == QpKind.XRC_TGT ? qp.settings().destinationQp : 0);
    }
    if (Bth.ackReq(packet, at)) {
      due(Syndrome.ACK_NO_CREDIT_LIMIT, psn);
    }
  }

  private void executeRead(MemorySegment packet, long at, int opcode, int psn) {
    if ((qp.settings().access & RegisteredMemory.REMOTE_READ) == 0) {
      invalidRequest(FailedCheck.QP_ACCESS, psn);
      return;
    }
    if (replies.isFull()) {
      invalidRequest(FailedCheck.TOO_MANY_READS, psn);
      return;
    }
    long reth = at + Opcode.rethOffset(opcode);
    long address = Reth.address(packet, reth);
    long length = Reth.length(packet, reth);
    int key = Reth.rkey(packet, reth);
    int mtu = qp.settings().mtu;
    // 2^23 responses would make PSNs ambiguous; no path MTU and length below 2 GiB come near it by accident.
    if (length > EngineConfig.MAX_DMA_LENGTH || (length + mtu - 1) / mtu > Psn.MASK >> 1) {
      invalidRequest(FailedCheck.DMA_LENGTH, psn);
      return;
    }
    FailedCheck check = length == 0 ? FailedCheck.NONE : checkRead(key, protectionDomain(), address, length);
    if (check != FailedCheck.NONE) {
      accessError(check, psn);
      return;
    }
    int packets = (int) Math.max(1, (length + mtu - 1) / mtu);
    ReplyRing.Reply reply = addReply(psn, packets);
    reply.kind = ReplyRing.Kind.READ;
    reply.address = address;
    reply.key = key;
    reply.domain = protectionDomain();
    reply.length = length;
    reply.end = length;
  }

  private FailedCheck checkRead(int key, int domain, long address, long length) {
    return qp.engine()
        .memory()
        .checkRemote(key, domain, qp.number(), RegisteredMemory.REMOTE_READ, address, length);
  }

  private void executeAtomic(MemorySegment packet, long at, int opcode, int psn) {
    if ((qp.settings().access & RegisteredMemory.REMOTE_ATOMIC) == 0) {
      invalidRequest(FailedCheck.QP_ACCESS, psn);
      return;
    }
    if (replies.isFull()) {
      invalidRequest(FailedCheck.TOO_MANY_READS, psn);
      return;
    }
    long eth = at + Opcode.atomicOffset(opcode);
    long address = AtomicEth.address(packet, eth);
    int key = AtomicEth.rkey(packet, eth);
    if ((address & 7) != 0) {
      invalidRequest(FailedCheck.ATOMIC_ALIGNMENT, psn);
      return;
    }
    MemoryAccess memory = qp.engine().memory();
    FailedCheck check =
        memory.checkRemote(
            key, protectionDomain(), qp.number(), RegisteredMemory.REMOTE_ATOMIC, address, Long.BYTES);
    if (check == FailedCheck.NONE) {
      RegisteredMemory target = memory.memory(key);
      long operand = AtomicEth.swapOrAdd(packet, eth);
      boolean done =
          Opcode.operation(opcode) == Opcode.RC_COMPARE_SWAP
              ? target.compareAndSwap(address, AtomicEth.compare(packet, eth), operand, atomicOriginal)
              : target.fetchAndAdd(address, operand, atomicOriginal);
      check = done ? FailedCheck.NONE : FailedCheck.REMOTE_MEMORY_GONE;
    }
    if (check != FailedCheck.NONE) {
      accessError(check, psn);
      return;
    }
    ReplyRing.Reply reply = addReply(psn, 1);
    reply.kind = ReplyRing.Kind.ATOMIC;
    reply.original = atomicOriginal[0];
  }

  /** IBA annex A19, ATOMIC WRITE; kernel: {@code rxe_resp.c:atomic_write_reply}. */
  private void executeAtomicWrite(MemorySegment packet, long at, int opcode, int payload, int pad, int psn) {
    if ((qp.settings().access & RegisteredMemory.REMOTE_WRITE) == 0) {
      invalidRequest(FailedCheck.QP_ACCESS, psn);
      return;
    }
    if (replies.isFull()) {
      invalidRequest(FailedCheck.TOO_MANY_READS, psn);
      return;
    }
    if (payload != Long.BYTES || pad != 0) {
      invalidRequest(FailedCheck.PACKET_LENGTH, psn);
      return;
    }
    long reth = at + Opcode.rethOffset(opcode);
    if (Reth.length(packet, reth) != Long.BYTES) {
      invalidRequest(FailedCheck.DMA_LENGTH, psn);
      return;
    }
    long address = Reth.address(packet, reth);
    int key = Reth.rkey(packet, reth);
    if ((address & 7) != 0) {
      invalidRequest(FailedCheck.ATOMIC_ALIGNMENT, psn);
      return;
    }
    MemoryAccess memory = qp.engine().memory();
    FailedCheck check =
        memory.checkRemote(
            key, protectionDomain(), qp.number(), RegisteredMemory.REMOTE_WRITE, address, Long.BYTES);
    if (check == FailedCheck.NONE
        && !memory.memory(key).atomicWrite(address, packet, at + Opcode.headerLength(opcode))) {
      check = FailedCheck.REMOTE_MEMORY_GONE;
    }
    if (check != FailedCheck.NONE) {
      accessError(check, psn);
      return;
    }
    addEmptyReply(psn);
  }

  /** IBA annex A19, FLUSH; kernel: {@code rxe_resp.c:process_flush}. */
  private void executeFlush(MemorySegment packet, long at, int opcode, int psn) {
    long feth = at + Opcode.fethOffset(opcode);
    int placement = Feth.placement(packet, feth);
    int selectivity = Feth.selectivity(packet, feth);
    if (placement == 0 || (placement & ~(Feth.GLOBAL | Feth.PERSISTENT)) != 0 || selectivity > Feth.REGION) {
      invalidRequest(FailedCheck.FLUSH_TYPE, psn);
      return;
    }
    int wanted = flushRights(placement);
    if ((qp.settings().access & wanted) != wanted) {
      invalidRequest(FailedCheck.QP_ACCESS, psn);
      return;
    }
    if (qp.settings().maxDestinationReadAtomic == 0) {
      invalidRequest(FailedCheck.TOO_MANY_READS, psn);
      return;
    }
    if (replies.isFull()) {
      // The kernel's requester does not count flushes, so more of them may come than responses can wait: once these
      // are sent there is room for the flush that is asked for again.
      onGap();
      return;
    }
    long reth = at + Opcode.rethOffset(opcode);
    long length = Reth.length(packet, reth);
    if (length > EngineConfig.MAX_DMA_LENGTH) {
      invalidRequest(FailedCheck.DMA_LENGTH, psn);
      return;
    }
    FailedCheck check = flush(Reth.rkey(packet, reth), wanted, selectivity, Reth.address(packet, reth), length);
    if (check != FailedCheck.NONE) {
      accessError(check, psn);
      return;
    }
    addEmptyReply(psn);
  }

  private static int flushRights(int placement) {
    return ((placement & Feth.GLOBAL) != 0 ? RegisteredMemory.FLUSH_GLOBAL : 0)
        | ((placement & Feth.PERSISTENT) != 0 ? RegisteredMemory.FLUSH_PERSISTENT : 0);
  }

  private FailedCheck flush(int key, int wanted, int selectivity, long address, long length) {
    MemoryAccess access = qp.engine().memory();
    RegisteredMemory memory = access.memory(key);
    boolean whole = selectivity == Feth.REGION && memory != null;
    long start = whole ? memory.firstAddress() : address;
    long count = whole ? memory.size() : length;
    FailedCheck check = access.checkRemote(key, protectionDomain(), qp.number(), wanted, start, count);
    if (check != FailedCheck.NONE) {
      return check;
    }
    if ((wanted & RegisteredMemory.FLUSH_PERSISTENT) != 0 && !memory.persist(start, count)) {
      return FailedCheck.REMOTE_MEMORY_GONE;
    }
    VarHandle.fullFence();
    return FailedCheck.NONE;
  }

  private void addEmptyReply(int psn) {
    ReplyRing.Reply reply = addReply(psn, 1);
    reply.kind = ReplyRing.Kind.EMPTY;
    reply.length = 0;
    reply.end = 0;
  }

  private ReplyRing.Reply addReply(int psn, int packets) {
    ReplyRing.Reply reply = replies.add();
    reply.firstPsn = psn;
    reply.lastPsn = Psn.add(psn, packets - 1);
    expectedPsn = Psn.add(psn, packets);
    msn = msn + 1 & Psn.MASK;
    reply.msn = msn;
    if (dueSyndrome == Syndrome.ACK_NO_CREDIT_LIMIT) {
      dueSyndrome = NONE; // The reply acknowledges everything before it.
      qp.engine().counters().increment(EngineCounter.ACK_DEFERRED);
    }
    return reply;
  }

  private void receiverNotReady(int psn) {
    qp.engine().counters().increment(EngineCounter.SEND_RNR_ERR);
    nakSent = true; // What follows the refused request is dropped until that comes again.
    due(Syndrome.RNR | qp.settings().minRnrTimer, psn);
  }

  private void invalidRequest(FailedCheck check, int psn) {
    failReceive(CompletionStatus.REMOTE_INVALID_REQUEST, check);
    fail(Syndrome.NAK_INVALID_REQUEST, psn, QpEvent.REQUEST_ERROR);
  }

  private void accessError(FailedCheck check, int psn) {
    failReceive(CompletionStatus.REMOTE_ACCESS_ERROR, check);
    fail(Syndrome.NAK_REMOTE_ACCESS, psn, QpEvent.ACCESS_ERROR);
  }

  private void fail(int syndrome, int psn, QpEvent event) {
    failing = true;
    failure = event;
    due(syndrome, psn);
  }

  private void due(int syndrome, int psn) {
    if (dueSyndrome == Syndrome.ACK_NO_CREDIT_LIMIT) {
      qp.engine().counters().increment(EngineCounter.ACK_DEFERRED);
    }
    if (dueSyndrome == NONE) {
      dueCycle = qp.engine().cycleNumber();
    }
    dueSyndrome = syndrome;
    duePsn = psn;
  }

  @Override
  int respond(Link link, int budget) {
    int sent = 0;
    for (ReplyRing.Reply reply = replies.current(); reply != null; reply = replies.current()) {
      if (sent >= budget) {
        return sent;
      }
      boolean atomic = reply.kind == ReplyRing.Kind.ATOMIC;
      boolean done = atomic ? sendAtomicReply(link, reply) : sendReadReply(link, reply);
      if (!done) {
        return failing ? sent : -1;
      }
      sent++;
    }
    if (dueSyndrome != NONE && (dueSyndrome != Syndrome.ACK_NO_CREDIT_LIMIT || acknowledgeFirst)) {
      if (!sendAcknowledge(link)) {
        return -1;
      }
      sent++;
    }
    return sent;
  }

  @Override
  void acknowledge(Link link, boolean sentRequests) {
    if (dueSyndrome != Syndrome.ACK_NO_CREDIT_LIMIT || replies.isPending()) {
      return;
    }
    if (qp.engine().isPosting() || (!sentRequests && mayWait())) {
      qp.engine().acknowledgeLater();
    } else {
      acknowledgeFirst = !sendAcknowledge(link); // Requests that fill the link must not hold it up for ever.
    }
  }

  /** For an answer, or for more of what is still coming in. */
  private boolean mayWait() {
    long cycle = qp.engine().cycleNumber();
    return dueCycle == cycle
        || (executedCycle == cycle
            && unacknowledged < MOST_UNACKNOWLEDGED_PACKETS
            && Psn.distance(acknowledgedMsn, msn) < MOST_UNACKNOWLEDGED_MESSAGES);
  }

  @Override
  void settle(Link link) {
    if (dueSyndrome == Syndrome.ACK_NO_CREDIT_LIMIT && !replies.isPending()) {
      sendAcknowledge(link);
    }
  }

  private boolean sendAtomicReply(Link link, ReplyRing.Reply reply) {
    int opcode = transport | Opcode.RC_ATOMIC_ACKNOWLEDGE;
    long at = link.claim(qp.settings().route, Opcode.headerLength(opcode));
    if (at < 0) {
      return false;
    }
    MemorySegment packet = link.transmitMemory();
    writeBth(packet, at, opcode, 0, reply.firstPsn);
    Aeth.write(packet, at + Opcode.aethOffset(opcode), Syndrome.ACK_NO_CREDIT_LIMIT, reply.msn);
    AtomicAckEth.write(packet, at + Opcode.atomicAckOffset(opcode), reply.original);
    commit(link);
    replies.sent(reply);
    return true;
  }

  private boolean sendReadReply(Link link, ReplyRing.Reply reply) {
    int mtu = qp.settings().mtu;
    int payload = (int) Math.min(mtu, reply.end - reply.position);
    // A reply that begins again in the middle begins with FIRST, as the request that asked for it.
    boolean start = reply.position == reply.startedAt;
    boolean end = reply.position + payload == reply.end;
    int opcode = transport | readResponseOpcode(start, end);
    int header = Opcode.headerLength(opcode);
    int pad = -payload & 3;
    int psn = Psn.add(reply.firstPsn, (int) (reply.position / mtu));
    long at = link.claim(qp.settings().route, header + payload + pad);
    if (at < 0) {
      return false;
    }
    MemorySegment packet = link.transmitMemory();
    if (payload > 0) {
      long address = reply.address + reply.position;
      FailedCheck check = checkRead(reply.key, reply.domain, address, payload);
      if (check == FailedCheck.NONE
          && !qp.engine().memory().memory(reply.key).read(address, packet, at + header, payload)) {
        check = FailedCheck.REMOTE_MEMORY_GONE;
      }
      if (check != FailedCheck.NONE) {
        link.abort();
        if (reply.complete) {
          return refuseAgain(link, reply, psn);
        }
        replies.clear();
        // A receive that is held belongs to a later message: it is flushed.
        qp.failure().ofPeer(check, expectedPsn, 0);
        fail(Syndrome.NAK_REMOTE_ACCESS, psn, QpEvent.ACCESS_ERROR);
        return false;
      }
    }
    for (int i = 0; i < pad; i++) {
      packet.set(ValueLayout.JAVA_BYTE, at + header + payload + i, (byte) 0);
    }
    writeBth(packet, at, opcode, pad, psn);
    if (Opcode.aethOffset(opcode) >= 0) {
      Aeth.write(packet, at + Opcode.aethOffset(opcode), Syndrome.ACK_NO_CREDIT_LIMIT, reply.msn);
    }
    commit(link);
    reply.position += payload;
    if (end) {
      replies.sent(reply);
    }
    return true;
  }

  /**
   * The memory of a request that was answered before is not there any more. A peer that still waits learns of it; one
   * that has the answer, since this is only a late copy, does not care, and must not lose the connection for it (the
   * kernel ends the queue pair, {@code rxe_resp.c:read_reply}).
   */
  private boolean refuseAgain(Link link, ReplyRing.Reply reply, int psn) {
    boolean sent = writeAcknowledge(link, Syndrome.NAK_REMOTE_ACCESS, psn);
    if (sent) {
      replies.sent(reply);
    }
    return sent;
  }

  private static int readResponseOpcode(boolean start, boolean end) {
    if (start) {
      return end ? Opcode.RC_RDMA_READ_RESPONSE_ONLY : Opcode.RC_RDMA_READ_RESPONSE_FIRST;
    }
    return end ? Opcode.RC_RDMA_READ_RESPONSE_LAST : Opcode.RC_RDMA_READ_RESPONSE_MIDDLE;
  }

  private boolean sendAcknowledge(Link link) {
    if (!writeAcknowledge(link, dueSyndrome, duePsn)) {
      return false;
    }
    dueSyndrome = NONE;
    unacknowledged = 0;
    acknowledgedMsn = msn;
    acknowledgeFirst = false;
    if (failing) {
      QpEvent event = failure;
      qp.enterError();
      if (event != null) {
        qp.host().event(event);
      }
    }
    return true;
  }

  private boolean writeAcknowledge(Link link, int syndrome, int psn) {
    int opcode = transport | Opcode.RC_ACKNOWLEDGE;
    long at = link.claim(qp.settings().route, Opcode.headerLength(opcode));
    if (at < 0) {
      return false;
    }
    MemorySegment packet = link.transmitMemory();
    writeBth(packet, at, opcode, 0, psn);
    Aeth.write(packet, at + Opcode.aethOffset(opcode), syndrome, msn);
    commit(link);
    return true;
  }

  private void writeBth(MemorySegment packet, long at, int opcode, int pad, int psn) {
    Bth.write(packet, at, opcode, false, pad, qp.settings().pkey, qp.settings().destinationQp, false, psn);
  }

  private void commit(Link link) {
    link.commit();
    qp.engine().counters().increment(EngineCounter.SENT_PKTS);
  }
}
