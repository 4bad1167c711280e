package org.rdma4j.rxe;

import org.rdma4j.ib.core.verbs.QpCapabilities;
import org.rdma4j.rxe.ring.ReceiveRing;
import org.rdma4j.rxe.ring.SendSlot;
import org.rdma4j.rxe.ring.SgeSlot;
import org.rdma4j.rxe.ring.WorkRing;

/**
 * The rings of a queue pair (kernel: {@code rxe_qp.c:rxe_qp_init_req, rxe_qp_init_resp}).
 *
 * @param sends the send queue
 * @param receives the receive queue, or null where there is none or a shared one
 * @param capabilities the sizes there are: the scatter/gather list and inline data share their place, so the larger
 *     of both counts for both, and rings are rounded up
 */
record QpRings(WorkRing sends, ReceiveRing receives, QpCapabilities capabilities) {
  /** Of a queue pair that has no queues: the smallest send queue, to which nobody posts. */
  static QpRings none() {
    return new QpRings(new WorkRing(1, (int) SendSlot.DATA), null, new QpCapabilities(0, 0, 0, 0, 0));
  }

  static QpRings allocate(QpCapabilities wanted, boolean shared) {
    int dataBytes = Math.max(wanted.maxSendSge() * SgeSlot.BYTES, wanted.maxInlineData());
    int maxSge = dataBytes / SgeSlot.BYTES;
    WorkRing sends = new WorkRing(Math.max(1, wanted.maxSendWr()), (int) SendSlot.DATA + dataBytes);
    ReceiveRing receives = shared ? null : new ReceiveRing(Math.max(1, wanted.maxRecvWr()), wanted.maxRecvSge());
    QpCapabilities actual =
        new QpCapabilities(
            sends.capacity(),
            shared ? 0 : receives.ring().capacity(),
            maxSge,
            shared ? 0 : receives.maxSge(),
            dataBytes);
    return new QpRings(sends, receives, actual);
  }
}
