package org.rdma4j.ulp.provider;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import org.rdma4j.ib.core.verbs.Access;
import org.rdma4j.ib.core.verbs.AsyncEventType;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.ObjectContext;
import org.rdma4j.ib.core.verbs.PostException;
import org.rdma4j.ib.core.verbs.QpAttribute;
import org.rdma4j.ib.core.verbs.QpAttributes;
import org.rdma4j.ib.core.verbs.QpCapabilities;
import org.rdma4j.ib.core.verbs.QpState;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.QueuePair;
import org.rdma4j.ib.core.verbs.ReceiveWorkRequest;
import org.rdma4j.ib.core.verbs.SendFlag;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.ib.core.verbs.WcOpcode;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.ib.core.verbs.WorkCompletion;
import org.rdma4j.ib.core.verbs.WorkRequestBuilder;
import org.rdma4j.ib.core.verbs.WrOpcode;

/**
 * A queue pair: two queues, a state, and what was set by modifications. Everything but the answers to questions runs
 * under the lock of the wire. Every request that is accepted completes once: by {@link #advance}, or flushed.
 */
final class LoopQp extends QueuePair {
  private static final int FOR_EVER = 7;
  private static final int OWN_QKEY = 1 << 31;
  private static final Set<WrOpcode> DATAGRAM = Set.of(WrOpcode.SEND, WrOpcode.SEND_WITH_IMM);
  private static final Set<WrOpcode> RELIABLE =
      Set.of(
          WrOpcode.SEND,
          WrOpcode.SEND_WITH_IMM,
          WrOpcode.RDMA_WRITE,
          WrOpcode.RDMA_WRITE_WITH_IMM,
          WrOpcode.RDMA_READ);

  private final LoopDevice device;
  private final LoopBuilder builder = new LoopBuilder(this);
  private final Deque<Request> requests = new ArrayDeque<>();
  private final Deque<Request.Receive> receives = new ArrayDeque<>();
  private QpState now = QpState.RESET;
  private QpAttributes attributes = new QpAttributes();
  private boolean closed;

  LoopQp(ObjectContext owner, LoopDevice device, int number, QpCapabilities sizes) {
    super(owner, number, sizes);
    this.device = device;
  }

  LoopDevice device() {
    return device;
  }

  boolean isDatagram() {
    return type() == QpType.UD;
  }

  // Posting.

  @Override
  public void postSend(SendWorkRequest chain) {
    device.wire().run(
        () -> {
          for (SendWorkRequest each = chain; each != null; each = each.next()) {
            check(each, requests.size());
            accept(each);
          }
        });
  }

  /** Posts all of a batch or nothing. */
  void postBatch(List<SendWorkRequest> batch) {
    device.wire().run(
        () -> {
          for (int i = 0; i < batch.size(); i++) {
            check(batch.get(i), requests.size() + i);
          }
          batch.forEach(this::accept);
        });
  }

  private void accept(SendWorkRequest wr) {
    requests.add(Request.of(wr));
    device.wire().busy(this, true);
  }

  private void check(SendWorkRequest wr, int before) {
    if (closed) {
      throw refusal(Errno.EIO, "the device was removed", wr);
    }
    Set<WrOpcode> known = isDatagram() ? DATAGRAM : RELIABLE;
    if (now.ordinal() < QpState.RTS.ordinal()) {
      throw refusal(Errno.EINVAL, "the state is " + now + "; sends are posted from RTS on", wr);
    }
    if (!known.contains(wr.opcode())) {
      throw refusal(Errno.EINVAL, wr.opcode() + " is none of " + known, wr);
    }
    if (wr.sgeCount() > capabilities().maxSendSge()) {
      throw refusal(Errno.EINVAL, wr.sgeCount() + " buffers exceed " + capabilities().maxSendSge(), wr);
    }
    if (wr.inlineData() != null || (wr.flags() & SendFlag.INLINE) != 0) {
      throw refusal(Errno.EINVAL, "max_inline_data is 0", wr);
    }
    if (isDatagram() && !(wr.ah() instanceof LoopAh ah && ah.device() == device)) {
      throw refusal(Errno.EINVAL, "the address handle is " + wr.ah() + "; it must be one of this device", wr);
    }
    if (before >= capabilities().maxSendWr()) {
      throw refusal(Errno.ENOMEM, "there are " + before + " requests already", wr);
    }
  }

  private PostException refusal(Errno errno, String why, Object bad) {
    return new PostException(errno, "posting to " + this + ": " + why, bad);
  }

  @Override
  public void postReceive(ReceiveWorkRequest chain) {
    device.wire().run(
        () -> {
          for (ReceiveWorkRequest each = chain; each != null; each = each.next()) {
            checkReceive(each);
            receives.add(Request.Receive.of(each));
          }
          if (now == QpState.ERR) {
            flush();
          }
        });
  }

  private void checkReceive(ReceiveWorkRequest wr) {
    if (closed) {
      throw refusal(Errno.EIO, "the device was removed", wr);
    }
    if (now == QpState.RESET) {
      throw refusal(Errno.EINVAL, "the state is RESET", wr);
    }
    if (wr.sgeCount() > capabilities().maxRecvSge()) {
      throw refusal(Errno.EINVAL, wr.sgeCount() + " buffers exceed " + capabilities().maxRecvSge(), wr);
    }
    if (receives.size() >= capabilities().maxRecvWr()) {
      throw refusal(Errno.ENOMEM, "there are " + receives.size() + " receives already", wr);
    }
  }

  @Override
  public WorkRequestBuilder workRequests() {
    return builder;
  }

  // The requester.

  /** Carries out the first request; false where there is none, or where it has to wait. */
  boolean advance() {
    if (now == QpState.ERR || now == QpState.SQE) {
      flushRequests();
    }
    Request first = requests.peek();
    if (first == null) {
      device.wire().busy(this, false);
      return false;
    }
    try {
      if (!new Transfer(this, first).run()) {
        return false;
      }
      if (takeUnlessFlushed(first)) {
        if (signalAll() || first.has(SendFlag.SIGNALED)) {
          complete(first, WcStatus.SUCCESS);
        }
      }
    } catch (Refused e) {
      if (takeUnlessFlushed(first)) {
        complete(first, e.status());
      }
      enter(isDatagram() ? QpState.SQE : QpState.ERR);
    }
    return true;
  }

  /** A completion queue that overflowed on the way has flushed everything, this request too. */
  @SuppressWarnings("ReferenceEquality")
  private boolean takeUnlessFlushed(Request request) {
    boolean there = requests.peek() == request;
    if (there) {
      requests.remove();
    }
    return there;
  }

  /** The queue pair at the other end, where it is there and connected to this one. */
  LoopQp peer() {
    LoopDevice there = device.wire().at(attributes.addressVector().destinationGid());
    LoopQp qp = there == null ? null : there.qps().get(attributes.destQpNumber());
    return qp != null && qp.receivesFrom(this) ? qp : null;
  }

  private boolean receivesFrom(LoopQp other) {
    return isReceiving()
        && type() == QpType.RC
        && attributes.destQpNumber() == other.number()
        && device.wire().at(attributes.addressVector().destinationGid()) == other.device;
  }

  private boolean isReceiving() {
    return now.ordinal() >= QpState.RTR.ordinal() && now != QpState.ERR;
  }

  LoopQp datagramPeer(Request request) {
    LoopDevice there = device.wire().at(request.ah().attributes().destinationGid());
    LoopQp qp = there == null ? null : there.qps().get(request.remoteQpn());
    int qkey = (request.remoteQkey() & OWN_QKEY) != 0 ? attributes.qkey() : request.remoteQkey();
    return qp != null && qp.isDatagram() && qp.isReceiving() && qp.attributes.qkey() == qkey ? qp : null;
  }

  boolean waitsForAnswer() {
    return attributes.timeout() == 0;
  }

  boolean waitsForReceive() {
    return attributes.rnrRetry() == FOR_EVER;
  }

  private void complete(Request request, WcStatus status) {
    WorkCompletion completion = new WorkCompletion();
    completion.set(request.wrId(), status, request.completes(), 0, 0, 0, number(), 0, 0, 0, port());
    ((LoopCq) sendCq()).add(completion, false);
  }

  // The responder.

  Request.Receive nextReceive() {
    return receives.peek();
  }

  boolean allows(Access right) {
    return attributes.access().contains(right);
  }

  /** The first receive is done. */
  void received(WcOpcode opcode, int length, Request by, LoopQp sender, int flags) {
    WorkCompletion completion = new WorkCompletion();
    int source = isDatagram() ? sender.number() : 0;
    completion.set(
        receives.remove().wrId(),
        WcStatus.SUCCESS,
        opcode,
        0,
        length,
        by.hasImmediate() ? by.immediate() : 0,
        number(),
        source,
        flags,
        0,
        port());
    ((LoopCq) recvCq()).add(completion, by.isSolicited());
  }

  /** The first receive cannot take the message. */
  void refuseReceive(WcStatus status) {
    completeReceive(receives.remove(), status);
    enter(QpState.ERR);
  }

  /** A request of the peer was refused. */
  void refuse(AsyncEventType event) {
    enter(QpState.ERR);
    raise(event);
  }

  private void completeReceive(Request.Receive receive, WcStatus status) {
    WorkCompletion completion = new WorkCompletion();
    completion.set(receive.wrId(), status, WcOpcode.RECV, 0, 0, 0, number(), 0, 0, 0, port());
    ((LoopCq) recvCq()).add(completion, false);
  }

  // The states.

  /** A completion queue has lost completions. */
  void fail() {
    enter(QpState.ERR);
  }

  /** Enters an error state by itself. */
  private void enter(QpState next) {
    now = next;
    stateChanged(next);
    if (next == QpState.ERR) {
      flush();
    }
  }

  private void flush() {
    flushRequests();
    while (!receives.isEmpty()) {
      completeReceive(receives.remove(), WcStatus.WR_FLUSH_ERR);
    }
  }

  private void flushRequests() {
    while (!requests.isEmpty()) {
      complete(requests.remove(), WcStatus.WR_FLUSH_ERR);
    }
  }

  @Override
  protected void doModify(QpAttributes wanted) {
    device.wire().run(
        () -> {
          QpState next = wanted.has(QpAttribute.STATE) ? wanted.state() : now;
          checkStep(next);
          merge(wanted);
          now = next;
          if (next == QpState.RESET) {
            attributes = new QpAttributes();
            requests.clear();
            receives.clear();
          } else if (next == QpState.ERR) {
            flush();
          }
        });
  }

  /** The core knows the state table; but the state may have changed by itself since it looked. */
  private void checkStep(QpState next) {
    if (next == QpState.SQD) {
      throw new VerbsException(Errno.EINVAL, this + ": the device has no SQD");
    }
    if (now == QpState.ERR && next != QpState.ERR && next != QpState.RESET) {
      throw new VerbsException(Errno.EINVAL, this + " went into ERR by itself; from there only RESET is possible");
    }
  }

  private void merge(QpAttributes wanted) {
    for (QpAttribute each : wanted.mask()) {
      switch (each) {
        case ACCESS_FLAGS -> attributes.access(wanted.access());
        case PKEY_INDEX -> attributes.pkeyIndex(wanted.pkeyIndex());
        case PORT -> attributes.port(wanted.port());
        case QKEY -> attributes.qkey(wanted.qkey());
        case AV -> attributes.addressVector(wanted.addressVector());
        case PATH_MTU -> attributes.pathMtu(wanted.pathMtu());
        case TIMEOUT -> attributes.timeout(wanted.timeout());
        case RETRY_CNT -> attributes.retryCount(wanted.retryCount());
        case RNR_RETRY -> attributes.rnrRetry(wanted.rnrRetry());
        case RQ_PSN -> attributes.rqPsn(wanted.rqPsn());
        case SQ_PSN -> attributes.sqPsn(wanted.sqPsn());
        case MAX_QP_RD_ATOMIC -> attributes.maxRdAtomic(wanted.maxRdAtomic());
        case MAX_DEST_RD_ATOMIC -> attributes.maxDestRdAtomic(wanted.maxDestRdAtomic());
        case MIN_RNR_TIMER -> attributes.minRnrTimer(wanted.minRnrTimer());
        case DEST_QPN -> attributes.destQpNumber(wanted.destQpNumber());
        default -> {
          // Of the transition only, or nothing that this device has.
        }
      }
    }
  }

  @Override
  protected QpAttributes doQuery() {
    return device.wire().call(() -> new QpAttributes(attributes).capabilities(capabilities()));
  }

  /** The queue pair is in ERR, and there flushing is done at once. */
  @Override
  protected boolean doDrain(long timeoutNanos) {
    return true;
  }

  @Override
  protected void doQuiesce() {
    device.wire().run(
        () -> {
          closed = true;
          now = QpState.ERR;
          flush();
        });
  }

  /** Work still posted vanishes. Whoever waits for this queue pair gets no answer any more. */
  @Override
  protected void doDestroy() {
    device.wire().run(
        () -> {
          closed = true;
          requests.clear();
          receives.clear();
          device.wire().busy(this, false);
          device.qps().remove(number());
        });
  }
}
