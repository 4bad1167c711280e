package org.rdma4j.mlx5.device.internal;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.rdma4j.mlx5.ifc.EventType;
import org.rdma4j.mlx5.ifc.Field;
import org.rdma4j.mlx5.ifc.Layouts;
import org.rdma4j.roce.engine.Completion;
import org.rdma4j.roce.engine.CompletionStatus;
import org.rdma4j.roce.engine.FailedCheck;
import org.rdma4j.roce.engine.QpContext;
import org.rdma4j.roce.engine.QpEvent;
import org.rdma4j.roce.engine.QpHost;
import org.rdma4j.roce.engine.QpKind;
import org.rdma4j.roce.engine.SendWork;
import org.rdma4j.roce.engine.TransportState;
import org.rdma4j.roce.engine.WorkOpcode;
import org.rdma4j.roce.engine.XrcReceiveSource;

/** A queue pair: what the engine asks of it, on the engine's thread, and its context as the driver has set it. */
final class QueuePair implements QpHost {
  private static final ValueLayout.OfLong BIG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final ValueLayout.OfLong HOST = ValueLayout.JAVA_LONG_UNALIGNED;

  private static final Field PD = Layouts.QPC.field("pd");

  private final int number;
  private final QpParts parts;
  private final MemorySegment context = Arena.ofAuto().allocate(Layouts.QPC.size(), Long.BYTES);
  private final MemorySegment eightBytes = Arena.ofAuto().allocate(Long.BYTES, Long.BYTES);
  private final long[] reply = new long[2];
  private SendReader sends;
  private OwnReceives receives; // null with a shared queue, or none
  private SharedReceives shared; // null without
  private QpContext transport;
  private CounterSet counters = CounterSet.NONE;
  private boolean broken;
  private boolean ended;

  QueuePair(int number, QpParts parts) {
    this.number = number;
    this.parts = parts;
  }

  /** The rest of what it is made of, which needs to know it. */
  void complete(SendReader sendQueue, OwnReceives own, SharedReceives sharedQueue) {
    sends = sendQueue;
    receives = own;
    shared = sharedQueue;
    parts.sendQueue().use();
    parts.receiveQueue().use();
    if (shared != null) {
      shared.use();
    }
  }

  void transport(QpContext made) {
    transport = made;
  }

  int number() {
    return number;
  }

  QpParts parts() {
    return parts;
  }

  MemorySegment context() {
    return context;
  }

  QpContext transport() {
    return transport;
  }

  SendReader sends() {
    return sends;
  }

  OwnReceives receives() {
    return receives;
  }

  CounterSet counters() {
    return counters;
  }

  void counters(CounterSet set) {
    counters = set;
  }

  /** The driver may post from now on. */
  void open() {
    broken = false;
    sends.open();
    if (receives != null) {
      receives.open();
    }
  }

  /** What is posted is not looked at any more. */
  void close() {
    sends.close();
    if (receives != null) {
      receives.close();
    }
  }

  /** Its queues are not used any more. */
  void release() {
    ended = true;
    parts.sendQueue().unuse();
    parts.receiveQueue().unuse();
    if (shared != null) {
      shared.unuse();
    }
  }

  /** A queue cannot be read: nothing of it completes any more, and the driver hears of it. */
  void broken() {
    if (!broken) {
      broken = true;
      parts.firmware().defer(this::fail);
    }
  }

  private void fail() {
    if (!ended && transport.state() != TransportState.RESET) {
      parts.firmware().event(EventType.WQ_CATASTROPHIC_ERROR, number);
      transport.modify(TransportState.ERR);
    }
  }

  /** A completion queue is in error: this queue pair goes with it, before the driver hears of either. */
  void completionLost(CompletionQueue queue) {
    counters.cqOverflow++;
    broken();
    queue.tellFailure();
  }

  @Override
  public boolean fetchSend(long index, SendWork work) {
    return sends.read(work);
  }

  @Override
  public void releaseSend(long index) {
    // The driver learns from completions alone how far the card has come.
  }

  @Override
  public void completeSend(Completion completion) {
    counters.ofRequester(completion.status);
    if (completion.status == CompletionStatus.SUCCESS && swapsReplies(completion)) {
      swapReply((int) completion.id & 0xffff);
    }
    if (!CompletionWriter.send(parts.sendQueue(), completion, number)) {
      completionLost(parts.sendQueue());
    }
  }

  private boolean swapsReplies(Completion completion) {
    int opcode = (int) (completion.id >>> CompletionWriter.OPCODE_SHIFT) & 0xff;
    return (opcode == 0x11 || opcode == 0x12) && parts.capabilities().repliesBigEndian();
  }

  /** In endianness mode 0 the reply of an atomic lies in the requester's memory as on the wire. */
  private void swapReply(int index) {
    if (!sends.readReply(index, reply)) {
      return;
    }
    long address = reply[0];
    int key = (int) reply[1];
    MemoryKey memory = parts.keys().get(key);
    if (memory != null
        && memory.allows(key, parts.pd(), true, address, Long.BYTES)
        && memory.read(address, eightBytes, 0, Long.BYTES)) {
      eightBytes.set(BIG, 0, eightBytes.get(HOST, 0));
      memory.write(address, eightBytes, 0, Long.BYTES);
    }
  }

  @Override
  public void completeReceive(Completion completion, boolean solicited) {
    counters.ofResponder(completion.status);
    int srqn = shared == null ? 0 : shared.number();
    if (parts.kind() == QpKind.GSI && (completion.flags & Completion.WITH_IMMEDIATE) == 0) {
      completion.immediate = transport.settings().pkey; // Where others have immediate data, QP1 has the P_Key.
    }
    if (!CompletionWriter.receive(parts.receiveQueue(), completion, number, srqn, solicited)) {
      completionLost(parts.receiveQueue());
    }
  }

  @Override
  public FailedCheck executeLocal(SendWork work) {
    if (!(work.local instanceof Wqe wqe)) {
      return FailedCheck.LOCAL_OPERATION;
    }
    if (work.opcode != WorkOpcode.REG_MR && work.opcode != WorkOpcode.LOCAL_INV) {
      return FailedCheck.LOCAL_OPERATION;
    }
    if (wqe.kind == Wqe.NOP) {
      return FailedCheck.NONE;
    }
    if (work.opcode == WorkOpcode.REG_MR && parts.umr().isOfWindow(wqe)) {
      work.opcode = WorkOpcode.BIND_MW; // Its failure has a status of its own.
    }
    boolean registrar = parts.isRegistrar();
    return parts.umr().execute(wqe, registrar ? PD.get(context, 0) : parts.pd(), number, registrar);
  }

  @Override
  public FailedCheck invalidate(int key, int protectionDomain) {
    return parts.keys().invalidate(key, protectionDomain, number) ? FailedCheck.NONE : FailedCheck.INVALIDATE;
  }

  @Override
  public XrcReceiveSource xrcReceives(int srqNumber) {
    SharedReceives queue = parts.queues().get(srqNumber);
    return queue != null && queue.shape().xrcDomain() == parts.xrcDomain() ? queue : null;
  }

  @Override
  public void event(QpEvent event) {
    switch (event) {
      case REQUEST_ERROR -> counters.responderRemoteInvalid++;
      case ACCESS_ERROR -> counters.responderRemoteAccess++;
      default -> {
        // Not counted.
      }
    }
    parts
        .firmware()
        .event(
            switch (event) {
              case FATAL -> EventType.WQ_CATASTROPHIC_ERROR;
              case REQUEST_ERROR -> EventType.WQ_INVALID_REQUEST;
              case ACCESS_ERROR -> EventType.WQ_ACCESS_ERROR;
              case COMMUNICATION_ESTABLISHED -> EventType.COMMUNICATION_ESTABLISHED;
              case SEND_QUEUE_DRAINED -> EventType.SQ_DRAINED;
              case LAST_WQE_REACHED -> EventType.SRQ_LAST_WQE;
            },
            number);
  }

  @Override
  public void entered(TransportState state) {
    // QUERY_QP asks the transport.
  }
}

