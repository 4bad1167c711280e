package org.rdma4j.mlx5.ib;

import org.rdma4j.ib.core.verbs.QpAttribute;
import org.rdma4j.ib.core.verbs.QpAttributes;
import org.rdma4j.mlx5.core.Mlx5Exception;
import org.rdma4j.mlx5.core.QueuePairCommands;
import org.rdma4j.mlx5.core.Structure;

/** What the card says of a queue pair when it is asked (QUERY_QP), for a person. */
final class QpReport {
  private static final String[] STATES = {"RESET", "INIT", "RTR", "RTS", "SQE", "SQD", "ERR", "SQD"};

  private QpReport() {}

  /** Clauses, or why there are none; never throws. */
  static String of(ConnectxDevice device, IbQueuePair qp, QpAttributes known) {
    if (!device.isUp()) {
      return "the card is not there any more to be asked";
    }
    Structure context;
    try {
      context = QueuePairCommands.query(device.core(), qp.cardNumber());
    } catch (Mlx5Exception e) {
      return "the card cannot be asked: " + e.getMessage();
    }
    StringBuilder text = new StringBuilder("the card has the queue pair in ");
    int state = context.get("state");
    text.append(state < STATES.length ? STATES[state] : "state " + state);
    if (known.has(QpAttribute.AV)) {
      text.append(", to queue pair ").append(context.get("remote_qpn"));
      text.append(" at ").append(known.addressVector().destinationGid());
      text.append(", the next PSN to send ").append(hex(context.get("next_send_psn")));
      text.append(", the oldest not acknowledged ").append(hex(context.get("last_acked_psn")));
      text.append(", the next one expected ").append(hex(context.get("next_rcv_psn")));
      if (qp.type().isConnected() && known.has(QpAttribute.RETRY_CNT)) {
        text.append(", timeout ").append(known.timeout());
        text.append(", retry_cnt ").append(context.get("retry_count"));
        text.append(", rnr_retry ").append(context.get("rnr_retry"));
      }
    }
    return text.toString();
  }

  private static String hex(int psn) {
    return String.format("0x%06x", psn);
  }
}
