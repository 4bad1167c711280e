package org.rdma4j.mlx5.ib;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.rdma4j.ib.core.verbs.AsyncEventType;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.MwType;
import org.rdma4j.ib.core.verbs.ObjectContext;
import org.rdma4j.ib.core.verbs.PostException;
import org.rdma4j.ib.core.verbs.QpAttributes;
import org.rdma4j.ib.core.verbs.QpCapabilities;
import org.rdma4j.ib.core.verbs.QpState;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.QueuePair;
import org.rdma4j.ib.core.verbs.ReceiveWorkRequest;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.ib.core.verbs.WorkRequestBuilder;
import org.rdma4j.mlx5.core.Mlx5Exception;
import org.rdma4j.mlx5.core.ObjectCommands;
import org.rdma4j.mlx5.core.QueuePairCommands;
import org.rdma4j.roce.address.Gid;

/**
 * A queue pair (kernel: {@code struct mlx5_ib_qp}, {@code qp.c}): receive queue and send queue in one buffer that the
 * card reads, a doorbell record and a doorbell register. Posting is safe for any thread.
 */
final class IbQueuePair extends QueuePair {
  private static final long FLUSH_NANOS = TimeUnit.SECONDS.toNanos(2);
  private static final long LOOK_NANOS = TimeUnit.MICROSECONDS.toNanos(50);

  private final ConnectxDevice device;
  private final int cardNumber;
  private final QpParts parts;
  private final SendQueue sends; // null for XRC_TGT
  private final ReceiveQueue receives; // null with a shared receive queue, and for both of XRC
  private final SendRules rules;
  private final SendPosting posting;
  private final IbWorkRequestBuilder builder;
  private final QpModifier modifier;
  private final FailureNote failure;
  private final QueueTrace trace;
  private volatile boolean over;

  IbQueuePair(
      ObjectContext owner,
      ConnectxDevice device,
      int number,
      int cardNumber,
      QpCapabilities capabilities,
      QpParts parts,
      SendQueue sends,
      ReceiveQueue receives) {
    super(owner, number, capabilities);
    this.device = device;
    this.cardNumber = cardNumber;
    this.parts = parts;
    this.sends = sends;
    this.receives = receives;
    this.trace = new QueueTrace(device, this);
    if (sends != null) {
      sends.number(cardNumber);
      sends.trace(trace);
    }
    this.rules = new SendRules(device, type(), capabilities.maxSendSge(), capabilities.maxInlineData());
    UmrPosting keys = new UmrPosting(device, sends);
    this.posting = new SendPosting(this, sends, rules, keys);
    this.builder = new IbWorkRequestBuilder(this, sends, rules, keys);
    this.modifier = new QpModifier(device, this);
    this.failure = new FailureNote(device);
  }

  /** The number under which the card has it; another one than the peer's for QP1. */
  int cardNumber() {
    return cardNumber;
  }

  boolean hasSends() {
    return sends != null;
  }

  /** Whether receives of its own or a shared queue complete under its name. */
  boolean hasReceives() {
    return receives != null || srq() != null;
  }

  QueueTrace trace() {
    return trace;
  }

  SendQueue sends() {
    return sends;
  }

  ReceiveQueue receives() {
    return receives;
  }

  /** DMA address of the doorbell record, or 0 without queues. */
  long recordAddress() {
    return parts.record() == null ? 0 : parts.record().address();
  }

  FailureNote failure() {
    return failure;
  }

  boolean isExtended() {
    return rules.isExtended();
  }

  boolean isDatagram() {
    return rules.isDatagram();
  }

  IbCompletionQueue sendQueue() {
    return (IbCompletionQueue) sendCq();
  }

  IbCompletionQueue receiveQueue() {
    return (IbCompletionQueue) recvCq();
  }

  /** A receive is complete; for who polls. */
  long receiveCompleted(int counter) {
    return receives != null ? receives.completed() : ((IbSharedReceiveQueue) srq()).completed(counter);
  }

  @Override
  public void postSend(SendWorkRequest chain) {
    if (trace.isOn()) {
      trace.verb("post_send", () -> posting.post(chain, MwType.TYPE_2));
    } else {
      posting.post(chain, MwType.TYPE_2);
    }
  }

  /** The bind of a window of type 1, which only the window itself may post. */
  void postBind(SendWorkRequest bind) {
    posting.post(bind, MwType.TYPE_1);
  }

  @Override
  public void postReceive(ReceiveWorkRequest chain) {
    if (receives == null) {
      String why = type() == QpType.XRC_INI ? "it has no receives" : "it has a shared receive queue, post there";
      throw new VerbsException(Errno.EINVAL, "post_recv to " + this + ": " + why);
    }
    if (!over && state() == QpState.RESET) {
      throw new PostException(
          Errno.EINVAL,
          "post_recv of wr_id " + chain.wrId() + " to " + this
              + ": the state is RESET; receives are posted from INIT on",
          chain);
    }
    if (trace.isOn()) {
      trace.verb("post_recv", () -> receives.post(chain, this));
    } else {
      receives.post(chain, this);
    }
  }

  @Override
  public WorkRequestBuilder workRequests() {
    return builder;
  }

  @Override
  protected void doModify(QpAttributes wanted) {
    modifier.modify(wanted);
  }

  @Override
  protected QpAttributes doQuery() {
    return modifier.query();
  }

  /** The card has said what state it is in. */
  void learned(QpState state) {
    if (state != state()) {
      stateChanged(state);
    }
  }

  /**
   * A completion says that something failed; for who polls. Whoever has it knows the state that the card is in, without
   * waiting for an event or asking: also of what was flushed, which is all that is polled when the first was not
   * signalled.
   */
  void failed(boolean send, WcStatus status) {
    if (type() == QpType.RC || type() == QpType.XRC_INI || !send) {
      learned(QpState.ERR);
    } else if (status != WcStatus.WR_FLUSH_ERR && state() == QpState.RTS) {
      stateChanged(QpState.SQE);
    }
  }

  void report(AsyncEventType event) {
    if (event == AsyncEventType.QP_FATAL
        || event == AsyncEventType.QP_REQ_ERR
        || event == AsyncEventType.QP_ACCESS_ERR) {
      // In RESET and INIT nothing can fail: the event is of before the reset, and was slower than it.
      if (state().ordinal() > QpState.INIT.ordinal()) {
        failure.ofEvent(event);
        stateChanged(QpState.ERR);
      }
    }
    raise(event);
  }

  @Override
  protected String doExplain() {
    String text = failure.text();
    return text.isEmpty() || over ? text : text + "; " + QpReport.of(device, this, modifier.known());
  }

  /** Forgets all work, as the card has; completions that are there stay. */
  void forget() {
    boolean sending = sends != null && sends.lock().lock();
    boolean receiving = receives != null && receives.lock().lock();
    try {
      keepCompletions();
      failure.clear();
      if (sends != null) {
        sends.reset();
      }
      if (receives != null) {
        receives.reset();
      }
    } finally {
      if (sending) {
        sends.lock().unlock();
      }
      if (receiving) {
        receives.lock().unlock();
      }
    }
  }

  private void keepCompletions() {
    if (sendQueue() != null) {
      sendQueue().keep();
    }
    if (receiveQueue() != null && receiveQueue() != sendQueue()) {
      receiveQueue().keep();
    }
  }

  @Override
  protected void doAttachMulticast(Gid group, int lid) {
    Errors.translatedRun(() -> ObjectCommands.attachMulticast(device.core(), cardNumber, bytes(group)));
  }

  @Override
  protected void doDetachMulticast(Gid group, int lid) {
    Errors.translatedRun(() -> ObjectCommands.detachMulticast(device.core(), cardNumber, bytes(group)));
  }

  private static MemorySegment bytes(Gid group) {
    MemorySegment bytes = Arena.ofAuto().allocate(2L * Long.BYTES);
    group.writeTo(bytes, 0);
    return bytes;
  }

  @Override
  protected boolean doDrain(long timeoutNanos) {
    return awaitFlush(timeoutNanos);
  }

  /** Waits until the card has written a completion for everything; in its absence the driver does. */
  private boolean awaitFlush(long timeoutNanos) {
    long start = System.nanoTime();
    while (!hasAllCompletions()) {
      if (over) {
        return true;
      }
      if (!device.isUp()) {
        flush();
        return true;
      }
      if (System.nanoTime() - start > timeoutNanos) {
        return false;
      }
      LockSupport.parkNanos(LOOK_NANOS);
    }
    return true;
  }

  private boolean hasAllCompletions() {
    return (sends == null || sendQueue().hasAllSends(this))
        && (receives == null || receiveQueue().hasAllReceives(this));
  }

  private void flush() {
    if (sends != null) {
      sendQueue().flushSends(this);
    }
    if (receives != null) {
      receiveQueue().flushReceives(this);
    }
  }

  private void closeQueues() {
    if (sends != null) {
      sends.lock().close();
    }
    if (receives != null) {
      receives.lock().close();
    }
  }

  /** The card flushes as long as it lives; then it is made to forget the queue pair, and what is left is ours. */
  @Override
  protected void doQuiesce() {
    closeQueues();
    if (device.isUp()) {
      try {
        QueuePairCommands.toError(device.core(), cardNumber);
        awaitFlush(FLUSH_NANOS);
      } catch (Mlx5Exception e) {
        device.refused("2ERR_QP of " + this, e);
      }
    }
    device.giveBack("work of " + this, () -> QueuePairCommands.toReset(device.core(), cardNumber));
    flush();
    over = true;
  }

  @Override
  protected void doDestroy() {
    closeQueues();
    if (!over) {
      over = true;
      device.giveBack("work of " + this, () -> QueuePairCommands.toReset(device.core(), cardNumber));
    }
    keepCompletions();
    if (sends != null) {
      sends.abandon();
    }
    device.queuePairs().remove(cardNumber, this);
    device.giveBack("queue pair", () -> QueuePairCommands.destroy(device.core(), cardNumber));
    parts.close();
  }
}
