package org.rdma4j.rxe;

import org.rdma4j.ib.core.verbs.AsyncEventType;
import org.rdma4j.roce.engine.Completion;
import org.rdma4j.roce.engine.CompletionStatus;
import org.rdma4j.roce.engine.FailedCheck;
import org.rdma4j.roce.engine.QpEvent;
import org.rdma4j.roce.engine.QpHost;
import org.rdma4j.roce.engine.SendWork;
import org.rdma4j.roce.engine.TransportState;
import org.rdma4j.roce.engine.WorkOpcode;
import org.rdma4j.roce.engine.XrcReceiveSource;
import org.rdma4j.rxe.ring.LocalOperands;
import org.rdma4j.rxe.ring.SendSlotReader;
import org.rdma4j.rxe.ring.WorkRing;

/** What the engine asks of a queue pair; all of it runs on the engine's thread. */
final class RxeQpHost implements QpHost {
  private static final AsyncEventType[] EVENTS = AsyncEventType.values();

  private final RxeQueuePair qp;
  private final RxeDevice device;
  private final WorkRing ring;
  private final SendSlotReader reader;
  private final boolean datagram;
  private final int protectionDomain;
  private final int xrcDomain;
  private final RxeCompletionQueue sendQueue;
  private final RxeCompletionQueue receiveQueue;
  private final WindowList windows = new WindowList(WindowList.OF_QUEUE_PAIR);

  RxeQpHost(RxeQueuePair qp, RxeDevice device, WorkRing ring, SendRules rules, int protectionDomain) {
    this.qp = qp;
    this.device = device;
    this.ring = ring;
    this.datagram = rules.isDatagram();
    this.reader = new SendSlotReader(ring, datagram, rules.maxSge(), rules.maxInline());
    this.protectionDomain = protectionDomain;
    this.sendQueue = qp.sendQueue();
    this.receiveQueue = qp.receiveQueue();
    this.xrcDomain = qp.xrcd() == null ? 0 : qp.xrcd().number();
  }

  @Override
  public boolean fetchSend(long index, SendWork work) {
    if (!reader.read(index, work)) {
      return false;
    }
    if (datagram) {
      RxeAddressHandle.Entry handle = device.ah(reader.ahNumber());
      // IBA specification C10-63: handle and queue pair belong to one protection domain.
      if (handle != null && handle.protectionDomain() == protectionDomain) {
        work.route = handle.route();
      }
    }
    return true;
  }

  @Override
  public void releaseSend(long index) {
    ring.release(index);
  }

  /** Whoever polls the completion of a send that failed finds the queue pair, or its send queue, failed. */
  @Override
  public void completeSend(Completion completion) {
    if (completion.status != CompletionStatus.SUCCESS) {
      qp.entered(qp.transport().state());
    }
    sendQueue.add(completion, false);
  }

  @Override
  public void completeReceive(Completion completion, boolean solicited) {
    receiveQueue.add(completion, solicited);
  }

  @Override
  public FailedCheck executeLocal(SendWork work) {
    return switch (work.opcode) {
      case WorkOpcode.BIND_MW -> bind(LocalOperands.of(work));
      case WorkOpcode.REG_MR -> register(LocalOperands.of(work));
      case WorkOpcode.LOCAL_INV ->
          takeRights(work.immediate, protectionDomain) ? FailedCheck.NONE : FailedCheck.LOCAL_INVALIDATE;
      default -> FailedCheck.LOCAL_OPERATION;
    };
  }

  private FailedCheck bind(LocalOperands bind) {
    WindowMemory window = device.keys().window(bind.windowKey);
    return window == null
        ? FailedCheck.BIND_WINDOW
        : window.bind(bind, device.keys().region(bind.regionKey), protectionDomain, qp.number(), windows);
  }

  private FailedCheck register(LocalOperands request) {
    return device.keys().get(request.regionKey) instanceof FastMemory region
        ? region.register(request, protectionDomain)
        : FailedCheck.REGISTER_REGION;
  }

  @Override
  public FailedCheck invalidate(int key, int domain) {
    return takeRights(key, domain) ? FailedCheck.NONE : FailedCheck.INVALIDATE;
  }

  private boolean takeRights(int key, int domain) {
    KeyedMemory memory = device.keys().get(key);
    return memory != null && memory.invalidate(key, domain, qp.number());
  }

  /** The queue pair goes: the windows that only it could use are free, so that no later one of its number can. */
  void unbindWindows() {
    windows.unbindAll();
  }

  @Override
  public XrcReceiveSource xrcReceives(int srqNumber) {
    RxeSharedReceiveQueue queue = device.xrcQueue(srqNumber);
    return queue != null && queue.xrcDomain() == xrcDomain ? queue.source() : null;
  }

  @Override
  public void event(QpEvent event) {
    qp.report(EVENTS[event.number()]);
  }

  @Override
  public void entered(TransportState state) {
    qp.entered(state);
  }
}
