package org.rdma4j.mlx5.ib;

import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.QpCapabilities;
import org.rdma4j.ib.core.verbs.QpInitAttributes;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.VerbsException;

/**
 * How large the queues of a queue pair are (kernel: {@code qp.c:calc_sq_size, set_rq_size}).
 *
 * @param receives entries of the receive queue, a power of two; 0 for none
 * @param stride bytes of such an entry
 * @param blocks blocks of the send queue, a power of two
 * @param capabilities what there is room for
 */
record QpShape(int receives, int stride, int blocks, QpCapabilities capabilities) {
  static final int MAX_SEND_SGE = 30;
  static final int MAX_INLINE = 444;

  /** What a queue pair's context can say. */
  private static final int MAX_ENTRIES = 1 << 15;

  private static final int SEGMENT = SendQueue.SEGMENT;

  static QpShape of(QpInitAttributes attributes) {
    if (!attributes.type().hasSendQueue()) {
      return new QpShape(0, 0, 0, new QpCapabilities(0, 0, 0, 0, 0));
    }
    QpCapabilities wanted = attributes.capabilities();
    boolean datagram = attributes.type() == QpType.UD || attributes.type() == QpType.GSI;
    int sendSge = Math.max(1, wanted.maxSendSge());
    int head = head(attributes.type());
    // Of a change of a memory key, where there is room for as many of them as for the rest.
    int wide = Sizes.roundUp(Math.max(1, wanted.maxSendWr()) * UmrEntry.BLOCKS);
    int local = wide <= MAX_ENTRIES ? UmrEntry.BLOCKS * SendQueue.BLOCK - head : 2 * SEGMENT;
    int least = datagram ? 0 : attributes.type() == QpType.XRC_INI ? 2 * SEGMENT : local;
    int data = Math.max(Math.max(sendSge * SEGMENT, least), Integer.BYTES + wanted.maxInlineData());
    int perRequest = (head + data + SendQueue.BLOCK - 1) / SendQueue.BLOCK;
    int blocks = Sizes.roundUp(Math.max(1, wanted.maxSendWr()) * perRequest);
    boolean own = attributes.type().hasReceiveQueue() && attributes.srq() == null;
    int stride = own ? Sizes.roundUp(Math.max(1, wanted.maxRecvSge()) * SEGMENT) : 0;
    int receives = own ? Math.max(Sizes.roundUp(wanted.maxRecvWr()), SendQueue.BLOCK / Math.min(stride, 64)) : 0;
    check(attributes, blocks, receives);
    int room = perRequest * SendQueue.BLOCK - head;
    return new QpShape(
        receives,
        stride,
        blocks,
        new QpCapabilities(
            blocks / perRequest,
            receives,
            Math.min(MAX_SEND_SGE, room / SEGMENT),
            stride / SEGMENT,
            Math.max(wanted.maxInlineData(), Math.min(MAX_INLINE, room - Integer.BYTES))));
  }

  /** Control and remote address, with the peer's queue between them for XRC; or control and address of a datagram. */
  private static int head(QpType type) {
    return switch (type) {
      case UD, GSI -> SEGMENT + SendQueue.DATAGRAM;
      case XRC_INI -> 3 * SEGMENT;
      default -> 2 * SEGMENT;
    };
  }

  private static void check(QpInitAttributes attributes, int blocks, int receives) {
    if (blocks > MAX_ENTRIES || receives > MAX_ENTRIES) {
      throw new VerbsException(
          Errno.ENOMEM,
          attributes.capabilities() + " takes " + blocks + " blocks of sends and " + receives
              + " receives; the card has room for " + MAX_ENTRIES + " of each");
    }
  }

  long receiveBytes() {
    return (long) receives * stride;
  }

  long bytes() {
    return receiveBytes() + (long) blocks * SendQueue.BLOCK;
  }
}
