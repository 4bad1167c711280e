package org.rdma4j.mlx5.ib;

import java.lang.foreign.MemorySegment;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.ObjectContext;
import org.rdma4j.ib.core.verbs.QpInitAttributes;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.SharedReceiveQueue;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.mlx5.core.BlueFlameRegister;
import org.rdma4j.mlx5.core.CommandRequest;
import org.rdma4j.mlx5.core.DmaBuffer;
import org.rdma4j.mlx5.core.DoorbellRecord;
import org.rdma4j.mlx5.core.Mlx5Errno;
import org.rdma4j.mlx5.core.Mlx5Exception;
import org.rdma4j.mlx5.core.QueuePairCommands;
import org.rdma4j.mlx5.core.Structure;
import org.rdma4j.mlx5.ifc.Opcode;

/**
 * How a queue pair is made (kernel: {@code qp.c:create_kernel_qp, create_xrc_tgt_qp}). What its context must name but
 * the queue pair does not have is the driver's own.
 */
final class QpCreation {
  private static final int SERVICE_XRC = 3;
  private static final int SERVICE_QP1 = 8;
  private static final int GSI_NUMBER = 1;
  private static final int MIGRATED = 3;
  private static final int SHARED_QUEUE = 1;
  private static final int LOG_SEGMENT = 4;

  private final ConnectxDevice device;
  private final ObjectContext owner;
  private final QpInitAttributes attributes;
  private final DriverResources own;
  private final QpShape shape;
  private QpParts parts = QpParts.NONE;

  private QpCreation(ObjectContext owner, ConnectxDevice device, QpInitAttributes attributes) {
    this.device = device;
    this.owner = owner;
    this.attributes = attributes;
    this.own = device.resources();
    this.shape = QpShape.of(attributes);
  }

  static IbQueuePair create(ObjectContext owner, ConnectxDevice device, QpInitAttributes attributes) {
    service(attributes.type());
    return new QpCreation(owner, device, attributes).create();
  }

  /** The card's number of a type of service. */
  static int service(QpType type) {
    return switch (type) {
      case RC -> 0;
      case UC -> 1;
      case UD -> 2;
      case XRC_INI, XRC_TGT -> SERVICE_XRC;
      case GSI -> SERVICE_QP1;
      default ->
          throw new VerbsException(
              Errno.EOPNOTSUPP, "queue pairs of type " + type + "; there are RC, UC, UD, GSI and both of XRC");
    };
  }

  private IbQueuePair create() {
    int number = -1;
    boolean made = false;
    try {
      if (attributes.type() != QpType.XRC_TGT) {
        allocate();
      }
      CommandRequest request = request();
      number = Errors.translated(() -> QueuePairCommands.create(device.core(), request));
      int known = attributes.type() == QpType.GSI ? GSI_NUMBER : number;
      IbQueuePair qp =
          new IbQueuePair(owner, device, known, number, shape.capabilities(), parts, sends(), receives());
      device.queuePairs().put(number, qp);
      made = true;
      return qp;
    } finally {
      if (!made) {
        if (number >= 0) {
          int which = number;
          device.giveBack("queue pair", () -> QueuePairCommands.destroy(device.core(), which));
        }
        parts.close();
      }
    }
  }

  private void allocate() {
    DmaBuffer buffer = Errors.translated(() -> device.core().allocate(shape.bytes()));
    parts = new QpParts(buffer, null, null);
    DoorbellRecord record = Errors.translated(() -> device.core().allocateDoorbellRecord());
    parts = new QpParts(buffer, record, null);
    parts = new QpParts(buffer, record, register());
  }

  /** A register of its own as long as there are any. */
  private BlueFlameRegister register() {
    try {
      return device.core().allocateBlueFlame(true);
    } catch (Mlx5Exception e) {
      if (e.errno() != Mlx5Errno.ENOMEM && e.errno() != Mlx5Errno.EAGAIN) {
        throw Errors.of(e);
      }
      return device.sharedDoorbell();
    }
  }

  private CommandRequest request() {
    DmaBuffer buffer = parts.buffer();
    CommandRequest request =
        CommandRequest.of(Opcode.CREATE_QP, buffer == null ? 0 : (long) buffer.pages() * Long.BYTES);
    Structure context = request.structure("qpc");
    context.set("st", service(attributes.type())).set("pm_state", MIGRATED).set("pd", pd());
    if (buffer == null) {
      context.set("no_sq", 1);
    } else {
      context
          .set("fre", 1)
          .set("uar_page", parts.register().page().index())
          .set("log_sq_size", Sizes.log(shape.blocks()))
          .setLong("dbr_addr", parts.record().address());
      buffer.listPages(request, 0, 0);
    }
    context.set("cqn_snd", number((IbCompletionQueue) attributes.sendCq()));
    context.set("cqn_rcv", number((IbCompletionQueue) attributes.recvCq()));
    receiveSide(context);
    return request;
  }

  private int pd() {
    return owner.protectionDomain() == null ? own.pd() : ((IbProtectionDomain) owner.protectionDomain()).number();
  }

  private int number(IbCompletionQueue queue) {
    return queue == null ? own.completions() : queue.number();
  }

  private void receiveSide(Structure context) {
    SharedReceiveQueue shared = attributes.srq();
    switch (attributes.type()) {
      case XRC_INI ->
          context
              .set("rq_type", SHARED_QUEUE)
              .set("xrcd", own.ownDomain())
              .set("srqn_rmpn_xrqn", own.xrcQueue());
      case XRC_TGT ->
          context
              .set("rq_type", SHARED_QUEUE)
              .set("xrcd", attributes.xrcd().number())
              .set("srqn_rmpn_xrqn", own.xrcQueue());
      default -> {
        if (shared == null) {
          context
              .set("log_rq_size", Sizes.log(shape.receives()))
              .set("log_rq_stride", Sizes.log(shape.stride()) - LOG_SEGMENT)
              .set("xrcd", own.ownDomain())
              .set("srqn_rmpn_xrqn", own.queue());
        } else {
          context
              .set("rq_type", SHARED_QUEUE)
              .set("xrcd", own.sharedDomain())
              .set("srqn_rmpn_xrqn", shared.srqNumber());
        }
      }
    }
  }

  private SendQueue sends() {
    if (parts.buffer() == null) {
      return null;
    }
    MemorySegment memory =
        parts.buffer().segment().asSlice(shape.receiveBytes(), (long) shape.blocks() * SendQueue.BLOCK);
    return new SendQueue(
        memory, shape.capabilities().maxSendWr(), attributes.signalAll(), parts.record(), parts.register());
  }

  private ReceiveQueue receives() {
    if (shape.receives() == 0) {
      return null;
    }
    MemorySegment memory = parts.buffer().segment().asSlice(0, shape.receiveBytes());
    return new ReceiveQueue(memory, shape.receives(), shape.capabilities().maxRecvSge(), parts.record());
  }
}
