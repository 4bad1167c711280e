package org.rdma4j.rdma.cm.ib;

import static org.rdma4j.rdma.cm.ib.CmState.ESTABLISHED;
import static org.rdma4j.rdma.cm.ib.CmState.MRA_REP_RCVD;
import static org.rdma4j.rdma.cm.ib.CmState.MRA_REP_SENT;
import static org.rdma4j.rdma.cm.ib.CmState.MRA_REQ_RCVD;
import static org.rdma4j.rdma.cm.ib.CmState.MRA_REQ_SENT;
import static org.rdma4j.rdma.cm.ib.CmState.REP_RCVD;
import static org.rdma4j.rdma.cm.ib.CmState.REP_SENT;
import static org.rdma4j.rdma.cm.ib.CmState.REQ_RCVD;
import static org.rdma4j.rdma.cm.ib.CmState.REQ_SENT;

import java.util.Set;
import org.rdma4j.ib.core.verbs.Access;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.QpAttributes;
import org.rdma4j.ib.core.verbs.QpState;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.VerbsException;

/** What a queue pair is to be told so that it fits its connection (kernel: {@code cm_init_qp_init_attr} and others). */
final class QpTransition {
  /**
   * Code of 0.64 ms. The kernel says 0, which is 655 ms: a receiver that comes a little late would stop its peer for
   * that long.
   */
  static final int MIN_RNR_TIMER = 12;

  private static final CmState[] BEGUN = {
    REQ_SENT, MRA_REQ_RCVD, REQ_RCVD, MRA_REQ_SENT, REP_RCVD, MRA_REP_SENT, REP_SENT, MRA_REP_RCVD, ESTABLISHED
  };
  private static final CmState[] PEER_KNOWN = {
    REQ_RCVD, MRA_REQ_SENT, REP_RCVD, MRA_REP_SENT, REP_SENT, MRA_REP_RCVD, ESTABLISHED
  };

  private QpTransition() {}

  /** The states in which a connection knows what a transition needs. */
  static CmState[] allowed(QpState target) {
    return switch (target) {
      case INIT -> BEGUN.clone();
      case RTR, RTS -> PEER_KNOWN.clone();
      default ->
          throw new VerbsException(
              Errno.EINVAL, "attributes for state " + target + ": a connection has them for INIT, RTR and RTS");
    };
  }

  static QpAttributes of(Connection connection, CmPort port, QpState target) {
    QpAttributes attributes = new QpAttributes().state(target);
    return switch (target) {
      case INIT -> init(attributes, connection, port);
      case RTR -> rtr(attributes, connection, port);
      default -> rts(attributes, connection);
    };
  }

  private static QpAttributes init(QpAttributes attributes, Connection connection, CmPort port) {
    Set<Access> rights =
        connection.responderResources == 0
            ? Set.of(Access.REMOTE_WRITE)
            : Set.of(Access.REMOTE_WRITE, Access.REMOTE_READ, Access.REMOTE_ATOMIC);
    return attributes
        .access(rights)
        .pkeyIndex(port.pkeyIndex(connection.path.address()))
        .port(port.number());
  }

  private static QpAttributes rtr(QpAttributes attributes, Connection connection, CmPort port) {
    attributes
        .addressVector(port.way(connection.path.address()))
        .pathMtu(connection.path.mtu())
        .destQpNumber(connection.remoteQpn)
        .rqPsn(connection.rqPsn);
    if (connection.qpType == QpType.RC || connection.qpType == QpType.XRC_TGT) {
      attributes.maxDestRdAtomic(connection.responderResources).minRnrTimer(MIN_RNR_TIMER);
    }
    return attributes;
  }

  private static QpAttributes rts(QpAttributes attributes, Connection connection) {
    attributes.sqPsn(connection.sqPsn);
    if (connection.qpType == QpType.RC || connection.qpType == QpType.XRC_INI) {
      attributes
          .retryCount(connection.retryCount)
          .rnrRetry(connection.rnrRetryCount)
          .maxRdAtomic(connection.initiatorDepth);
    }
    if (connection.qpType != QpType.UC) {
      attributes.timeout(connection.ackTimeout);
    }
    return attributes;
  }
}
