package org.rdma4j.roce.engine;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.rdma4j.roce.link.Link;
import org.rdma4j.roce.packet.Aeth;
import org.rdma4j.roce.packet.AtomicAckEth;
import org.rdma4j.roce.packet.Bth;
import org.rdma4j.roce.packet.Opcode;
import org.rdma4j.roce.packet.OpcodeFlag;
import org.rdma4j.roce.packet.Psn;
import org.rdma4j.roce.packet.RnrTimer;
import org.rdma4j.roce.packet.Syndrome;

/**
 * Matches responses with the requests they answer, completes these in order, and decides when to send again (kernel:
 * {@code rxe_comp.c}; IBA specification section 9.7.5.1).
 *
 * <p>A loss that nothing tells of, since it took the last packet, an acknowledge or a NAK, would cost the transport
 * timeout. So before that the oldest packet is sent once more, a few times and never as a retry that counts: what the
 * peer acknowledges then tells what it has. (The kernel waits for the timeout.)
 *
 * <p>Invariant: every request before {@link #psn} is acknowledged; the oldest begun request contains {@link #psn}.
 */
final class Completer {
  /** {@code retry_cnt} and {@code rnr_retry} of 7 never run out. */
  private static final int FOR_EVER = 7;

  private static final long NEVER = Long.MAX_VALUE;

  private static final int MAX_PROBES = 3;

  /** The first probe comes after so many times what answers take, but not after more than this part of the timeout. */
  private static final int ANSWERS_PER_PROBE = 4;

  private static final int PROBE_SHARE = 16;
  private static final long SHORTEST_PROBE_NANOS = 1_000_000;

  /** Where timeouts are shorter than this no probe could come before the answer and be of use. */
  private static final long SHORTEST_TIMEOUT_WITH_PROBES = 4_000_000;

  /** Each next probe waits four times as long as the one before. */
  private static final int BACK_OFF_SHIFT = 2;

  /** How fast the longest time of an answer is forgotten. */
  private static final int DECAY_SHIFT = 3;

  private static final int NO_PSN = -1;
  private static final long UNKNOWN_NANOS = Long.MAX_VALUE >> 8;
  private static final ValueLayout.OfLong HOST_LONG = ValueLayout.JAVA_LONG_UNALIGNED;

  private final QpContext qp;
  private final SendQueue queue;
  private Requester requester;
  private int psn;
  private int retriesLeft;
  private int rnrRetriesLeft;
  private boolean waitsForRnrTimer;
  private boolean lossHandled;
  private long deadline = NEVER;
  private long timeoutAt;
  private long askedAt;
  private long answerNanos;
  private int probes;
  private boolean probeDue;
  private int probedPsn = NO_PSN;

  Completer(QpContext qp, SendQueue queue) {
    this.qp = qp;
    this.queue = queue;
  }

  void connect(Requester peer) {
    requester = peer;
  }

  /** Oldest PSN that is not acknowledged. */
  int psn() {
    return psn;
  }

  /** When {@link #onTimer} must be called, in the clock's nanoseconds. */
  long deadline() {
    return deadline;
  }

  boolean waitsForRnrTimer() {
    return waitsForRnrTimer;
  }

  void start(int firstPsn) {
    psn = firstPsn & Psn.MASK;
    resetRetries();
    waitsForRnrTimer = false;
    lossHandled = false;
    probeDue = false;
    probedPsn = NO_PSN;
    answerNanos = UNKNOWN_NANOS;
    deadline = NEVER;
  }

  void stop() {
    deadline = NEVER;
    waitsForRnrTimer = false;
  }

  /** New retry limits take effect at once. */
  void resetRetries() {
    retriesLeft = qp.settings().retryCount;
    rnrRetriesLeft = qp.settings().rnrRetry;
  }

  /** Starts the transport timer unless it runs. */
  void startTimer() {
    if (deadline == NEVER && !waitsForRnrTimer) {
      restartTimer();
    }
  }

  private void restartTimer() {
    long timeout = qp.settings().timeoutNanos();
    if (timeout == NEVER || psn == requester.limitPsn()) {
      deadline = NEVER;
      return;
    }
    askedAt = qp.engine().now();
    timeoutAt = askedAt + timeout;
    probes = timeout < SHORTEST_TIMEOUT_WITH_PROBES ? MAX_PROBES : 0;
    probeDue = false;
    awaitAnswer(timeout);
  }

  /** Until the next probe or, without one, until the timeout. */
  private void awaitAnswer(long timeout) {
    long usual = Math.max(ANSWERS_PER_PROBE * answerNanos, SHORTEST_PROBE_NANOS);
    long wait = Math.min(usual, timeout / PROBE_SHARE) << BACK_OFF_SHIFT * probes;
    deadline = probes == MAX_PROBES ? timeoutAt : Math.min(timeoutAt, qp.engine().now() + wait);
    qp.engine().armTimer(qp);
  }

  /** Sends a probe when one is due. */
  void probe(Link link) {
    if (probeDue && !waitsForRnrTimer) {
      probeDue = false;
      probedPsn = psn;
      requester.probe(link);
    }
  }

  /** Takes one response packet. */
  void onResponse(MemorySegment packet, long at, int length, int opcode) {
    int received = Bth.psn(packet, at);
    if (Psn.compare(received, psn) < 0 || Psn.compare(received, requester.limitPsn()) >= 0) {
      return; // An answer to what is long complete, or to what was never asked.
    }
    int operation = Opcode.operation(opcode);
    if (operation == Opcode.RC_ACKNOWLEDGE) {
      onAcknowledge(received, Aeth.syndrome(packet, at + Opcode.aethOffset(opcode)));
    } else if (operation == Opcode.RC_ATOMIC_ACKNOWLEDGE) {
      onAtomicAcknowledge(packet, at, length, received);
    } else {
      onReadResponse(packet, at, length, opcode, received);
    }
  }

  private void onAcknowledge(int received, int syndrome) {
    switch (Syndrome.type(syndrome)) {
      case Syndrome.TYPE_ACK -> {
        if (acknowledge(received) && received == probedPsn) {
          onProbed();
        }
      }
      case Syndrome.TYPE_RNR_NAK -> onRnrNak(received, Syndrome.value(syndrome));
      case Syndrome.TYPE_NAK -> onNak(received, syndrome);
      default -> {
        // IBA specification section 9.7.5.2.1: the reserved type is not an acknowledge, and is ignored.
      }
    }
  }

  /**
   * Everything up to a PSN is acknowledged.
   *
   * @return false when a READ or an atomic before it has not been answered, which means that its response is lost
   */
  private boolean acknowledge(int last) {
    int before = psn;
    SendWork work = queue.oldest();
    boolean answered = true;
    while (work != null && work.progress == SendWork.STARTED && Psn.compare(work.firstPsn, last) <= 0) {
      if (WorkOpcode.hasResponse(work.opcode)) {
        answered = false;
        break;
      }
      if (Psn.compare(work.lastPsn, last) > 0) {
        psn = Psn.add(last, 1);
        break;
      }
      psn = Psn.add(work.lastPsn, 1);
      queue.complete(work, CompletionStatus.SUCCESS, FailedCheck.NONE);
      completeDone();
      work = queue.oldest();
    }
    if (psn != before) {
      progress();
    }
    if (!answered && qp.state().sends()) {
      onLoss();
    }
    return answered;
  }

  /** The peer has what was sent again, and nothing after it though that was sent before. */
  private void onProbed() {
    probedPsn = NO_PSN;
    if (qp.state().sends() && queue.hasStarted() && requester.isUpToDate() && psn != requester.limitPsn()) {
      qp.engine().counters().increment(EngineCounter.COMPLETER_RETRY_ERR);
      requester.shrink();
      requester.restart(psn);
      qp.engine().schedule(qp);
    }
  }

  private boolean acknowledgeBefore(int received) {
    return received == psn || acknowledge(Psn.add(received, -1));
  }

  private void onRnrNak(int received, int timerCode) {
    qp.engine().counters().increment(EngineCounter.RCVD_RNR_ERR);
    if (waitsForRnrTimer || !acknowledgeBefore(received) || !queue.hasStarted()) {
      return;
    }
    if (rnrRetriesLeft == 0) {
      qp.engine().counters().increment(EngineCounter.RETRY_RNR_EXCEEDED_ERR);
      fail(queue.oldest(), CompletionStatus.RNR_RETRY_EXCEEDED, FailedCheck.RNR_RETRIES_USED);
      return;
    }
    if (rnrRetriesLeft != FOR_EVER) {
      rnrRetriesLeft--;
    }
    waitsForRnrTimer = true;
    deadline = qp.engine().now() + RnrTimer.nanos(timerCode);
    qp.engine().armTimer(qp);
  }

  private void onNak(int received, int syndrome) {
    if (!acknowledgeBefore(received) || !queue.hasStarted()) {
      return;
    }
    switch (syndrome) {
      case Syndrome.NAK_SEQUENCE -> {
        qp.engine().counters().increment(EngineCounter.RCVD_SEQ_ERR);
        onLoss();
      }
      case Syndrome.NAK_INVALID_REQUEST ->
          fail(queue.oldest(), CompletionStatus.REMOTE_INVALID_REQUEST, FailedCheck.NAK_INVALID_REQUEST);
      case Syndrome.NAK_REMOTE_ACCESS ->
          fail(queue.oldest(), CompletionStatus.REMOTE_ACCESS_ERROR, FailedCheck.NAK_REMOTE_ACCESS);
      case Syndrome.NAK_REMOTE_OPERATIONAL ->
          fail(queue.oldest(), CompletionStatus.REMOTE_OPERATION_ERROR, FailedCheck.NAK_REMOTE_OPERATION);
      default -> fail(queue.oldest(), CompletionStatus.REMOTE_OPERATION_ERROR, FailedCheck.NAK_UNKNOWN);
    }
  }

  private void onReadResponse(MemorySegment packet, long at, int length, int opcode, int received) {
    if (!acknowledgeBefore(received)) {
      return;
    }
    SendWork work = queue.oldest();
    if (work == null || work.progress != SendWork.STARTED) {
      return;
    }
    int aeth = Opcode.aethOffset(opcode);
    boolean read = work.opcode == WorkOpcode.RDMA_READ;
    boolean confirmed =
        Opcode.operation(opcode) == Opcode.RC_RDMA_READ_RESPONSE_ONLY
            && (work.opcode == WorkOpcode.ATOMIC_WRITE || work.opcode == WorkOpcode.FLUSH);
    if (!(read || confirmed) || (aeth >= 0 && Syndrome.type(Aeth.syndrome(packet, at + aeth)) != Syndrome.TYPE_ACK)) {
      fail(work, CompletionStatus.BAD_RESPONSE, FailedCheck.RESPONSE_MISMATCH);
    } else if (read) {
      takeReadResponse(work, packet, at, length, opcode, received);
    } else if (length != Opcode.headerLength(opcode)) {
      fail(work, CompletionStatus.BAD_RESPONSE, FailedCheck.RESPONSE_LENGTH);
    } else {
      answered(work, received);
    }
  }

  /** A request of one packet has its response. */
  private void answered(SendWork work, int received) {
    psn = Psn.add(received, 1);
    requester.readAnswered();
    queue.complete(work, CompletionStatus.SUCCESS, FailedCheck.NONE);
    completeDone();
    progress();
  }

  private void takeReadResponse(SendWork work, MemorySegment packet, long at, int length, int opcode, int received) {
    int mtu = qp.settings().mtu;
    long position = (long) Psn.distance(work.firstPsn, received) * mtu;
    long left = requester.readChunkEnd(position, work.length, mtu) - position;
    int header = Opcode.headerLength(opcode);
    int pad = Bth.padCount(packet, at);
    int payload = length - header - pad;
    boolean end = (Opcode.flags(opcode) & OpcodeFlag.END) != 0;
    if (end ? payload != left || left > mtu : payload != mtu || left <= mtu) {
      fail(work, CompletionStatus.BAD_RESPONSE, FailedCheck.RESPONSE_LENGTH);
      return;
    }
    FailedCheck check =
        qp.engine().memory().scatter(work.sge, position, packet, at + header, payload, qp.protectionDomain());
    if (check != FailedCheck.NONE) {
      fail(work, CompletionStatus.LOCAL_PROTECTION_ERROR, check);
      return;
    }
    psn = Psn.add(received, 1);
    if (end) {
      requester.readAnswered();
    }
    if (position + payload == work.length) {
      queue.complete(work, CompletionStatus.SUCCESS, FailedCheck.NONE);
      completeDone();
    }
    progress();
  }

  private void onAtomicAcknowledge(MemorySegment packet, long at, int length, int received) {
    if (!acknowledgeBefore(received)) {
      return;
    }
    SendWork work = queue.oldest();
    if (work == null || work.progress != SendWork.STARTED) {
      return;
    }
    int opcode = Opcode.RC_ATOMIC_ACKNOWLEDGE;
    if (!WorkOpcode.isAtomic(work.opcode)
        || Syndrome.type(Aeth.syndrome(packet, at + Opcode.aethOffset(opcode))) != Syndrome.TYPE_ACK) {
      fail(work, CompletionStatus.BAD_RESPONSE, FailedCheck.RESPONSE_MISMATCH);
      return;
    }
    if (length != Opcode.headerLength(opcode)) {
      fail(work, CompletionStatus.BAD_RESPONSE, FailedCheck.RESPONSE_LENGTH);
      return;
    }
    MemorySegment atomicResult = qp.engine().scratch();
    atomicResult.set(HOST_LONG, 0, AtomicAckEth.original(packet, at + Opcode.atomicAckOffset(opcode)));
    FailedCheck check =
        qp.engine().memory().scatter(work.sge, 0, atomicResult, 0, Long.BYTES, qp.protectionDomain());
    if (check != FailedCheck.NONE) {
      fail(work, CompletionStatus.LOCAL_PROTECTION_ERROR, check);
      return;
    }
    answered(work, received);
  }

  /** Something new is acknowledged: all retries are available again. */
  private void progress() {
    if (!qp.state().sends()) {
      return;
    }
    if (probes == 0) {
      long remembered = answerNanos == UNKNOWN_NANOS ? 0 : answerNanos - (answerNanos >> DECAY_SHIFT);
      answerNanos = Math.max(qp.engine().now() - askedAt, remembered);
    }
    resetRetries();
    lossHandled = false;
    waitsForRnrTimer = false;
    requester.grow();
    if (Psn.compare(psn, requester.psn()) > 0) {
      requester.restart(psn); // A late answer overtook the retransmission.
    }
    restartTimer();
    qp.checkDrained();
    qp.engine().schedule(qp);
  }

  /** A packet or an answer is missing; one burst of signs of it is one loss. */
  private void onLoss() {
    if (!lossHandled && !waitsForRnrTimer) {
      lossHandled = true;
      retry();
    }
  }

  private void retry() {
    if (retriesLeft == 0) {
      qp.engine().counters().increment(EngineCounter.RETRY_EXCEEDED_ERR);
      fail(queue.oldest(), CompletionStatus.RETRY_EXCEEDED, FailedCheck.RETRIES_USED);
      return;
    }
    if (retriesLeft != FOR_EVER) {
      retriesLeft--;
    }
    qp.engine().counters().increment(EngineCounter.COMPLETER_RETRY_ERR);
    requester.shrink();
    requester.restart(psn);
    restartTimer();
    qp.engine().schedule(qp);
  }

  /** The deadline may have passed. */
  void onTimer(long now) {
    if (now - deadline < 0 || deadline == NEVER) {
      return;
    }
    deadline = NEVER;
    if (waitsForRnrTimer) {
      waitsForRnrTimer = false;
      requester.restart(psn);
      restartTimer();
      qp.engine().schedule(qp);
    } else if (queue.hasStarted()) {
      if (probes < MAX_PROBES && now - timeoutAt < 0) {
        probes++;
        probeDue = requester.isUpToDate();
        awaitAnswer(qp.settings().timeoutNanos());
        qp.engine().schedule(qp);
        return;
      }
      lossHandled = false;
      retry();
    }
  }

  /** Completes what needs no answer, as far as it is the oldest; the oldest failed request fails the queue pair. */
  void completeDone() {
    SendWork work = queue.oldest();
    while (work != null && work.progress == SendWork.DONE) {
      queue.complete(work, CompletionStatus.SUCCESS, FailedCheck.NONE);
      work = queue.oldest();
    }
    if (work != null && work.progress == SendWork.FAILED) {
      fail(work, work.status, work.check);
    }
  }

  private void fail(SendWork work, CompletionStatus status, FailedCheck check) {
    qp.failure().ofRequest(work, check);
    work.progress = SendWork.FAILED;
    work.status = status;
    work.check = check;
    qp.failSends(); // Completes it, after the state has changed: who sees the completion sees the state.
  }
}
