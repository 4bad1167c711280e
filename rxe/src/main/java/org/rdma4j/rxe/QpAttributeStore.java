package org.rdma4j.rxe;

import org.rdma4j.ib.core.verbs.Access;
import org.rdma4j.ib.core.verbs.QpAttribute;
import org.rdma4j.ib.core.verbs.QpAttributes;
import org.rdma4j.ib.core.verbs.QpCapabilities;
import org.rdma4j.roce.address.PathMtu;
import org.rdma4j.roce.engine.QpContext;
import org.rdma4j.roce.engine.QpSettings;
import org.rdma4j.roce.engine.RegisteredMemory;
import org.rdma4j.roce.link.Route;

/**
 * Attributes of a queue pair as they were asked for, and what the transport makes of them (kernel: {@code
 * rxe_qp.c:rxe_qp_from_attr, rxe_qp_to_attr}). Engine thread.
 */
final class QpAttributeStore {
  private static final int REMOTE =
      RegisteredMemory.REMOTE_READ
          | RegisteredMemory.REMOTE_WRITE
          | RegisteredMemory.REMOTE_ATOMIC
          | RegisteredMemory.FLUSH_GLOBAL
          | RegisteredMemory.FLUSH_PERSISTENT;
  private static final QpAttribute[] KEPT = {
    QpAttribute.ACCESS_FLAGS,
    QpAttribute.PKEY_INDEX,
    QpAttribute.PORT,
    QpAttribute.QKEY,
    QpAttribute.AV,
    QpAttribute.PATH_MTU,
    QpAttribute.TIMEOUT,
    QpAttribute.RETRY_CNT,
    QpAttribute.RNR_RETRY,
    QpAttribute.MAX_QP_RD_ATOMIC,
    QpAttribute.ALT_PATH,
    QpAttribute.MIN_RNR_TIMER,
    QpAttribute.MAX_DEST_RD_ATOMIC,
    QpAttribute.PATH_MIG_STATE,
    QpAttribute.DEST_QPN,
  };

  private QpAttributes kept;

  QpAttributeStore() {
    forget();
  }

  /** Back to the attributes of a new queue pair. */
  void forget() {
    kept = new QpAttributes().pathMtu(PathMtu.MTU_256);
  }

  /** Takes attributes over into the store and into the transport's settings. */
  void apply(QpAttributes wanted, Route route, QpSettings settings) {
    for (QpAttribute each : KEPT) {
      if (wanted.has(each)) {
        applyOne(each, wanted, settings);
      }
    }
    if (route != null) {
      settings.route = route;
    }
    if (wanted.has(QpAttribute.RQ_PSN)) {
      settings.receivePsn = wanted.rqPsn();
    }
    if (wanted.has(QpAttribute.SQ_PSN)) {
      settings.sendPsn = wanted.sqPsn();
    }
    if (wanted.has(QpAttribute.EN_SQD_ASYNC_NOTIFY)) {
      settings.notifyDrained = wanted.sqdAsyncNotify();
    }
  }

  private void applyOne(QpAttribute attribute, QpAttributes wanted, QpSettings settings) {
    switch (attribute) {
      case ACCESS_FLAGS -> {
        kept.access(wanted.access());
        settings.access = Access.bits(wanted.access()) & REMOTE;
      }
      case PKEY_INDEX -> {
        kept.pkeyIndex(wanted.pkeyIndex());
        settings.pkeyIndex = wanted.pkeyIndex();
      }
      case PORT -> kept.port(wanted.port());
      case QKEY -> {
        kept.qkey(wanted.qkey());
        settings.qkey = wanted.qkey();
      }
      case AV -> kept.addressVector(wanted.addressVector());
      case PATH_MTU -> {
        kept.pathMtu(wanted.pathMtu());
        settings.mtu = wanted.pathMtu().bytes();
      }
      case TIMEOUT -> {
        kept.timeout(wanted.timeout());
        settings.timeout = wanted.timeout();
      }
      case RETRY_CNT -> {
        kept.retryCount(wanted.retryCount());
        settings.retryCount = wanted.retryCount();
      }
      case RNR_RETRY -> {
        kept.rnrRetry(wanted.rnrRetry());
        settings.rnrRetry = wanted.rnrRetry();
      }
      case MAX_QP_RD_ATOMIC -> {
        kept.maxRdAtomic(wanted.maxRdAtomic());
        settings.maxReadAtomic = wanted.maxRdAtomic();
      }
      case ALT_PATH -> kept.alternatePath(wanted.alternatePath());
      case MIN_RNR_TIMER -> {
        kept.minRnrTimer(wanted.minRnrTimer());
        settings.minRnrTimer = wanted.minRnrTimer();
      }
      case MAX_DEST_RD_ATOMIC -> {
        kept.maxDestRdAtomic(wanted.maxDestRdAtomic());
        settings.maxDestinationReadAtomic = roundUp(wanted.maxDestRdAtomic());
      }
      case PATH_MIG_STATE -> kept.pathMigrationState(wanted.pathMigrationState());
      case DEST_QPN -> {
        kept.destQpNumber(wanted.destQpNumber());
        settings.destinationQp = wanted.destQpNumber();
      }
      default -> throw new IllegalArgumentException(attribute + " is not kept");
    }
  }

  /**
   * A Linux initiator rounds its own limit up to a power of two and may send that many, so the responder accepts as
   * many; as initiator we keep to what was asked for.
   */
  private static int roundUp(int limit) {
    return limit <= 1 ? limit : Integer.highestOneBit(limit - 1) << 1;
  }

  /** All attributes but the state. */
  QpAttributes query(QpContext transport, QpCapabilities capabilities, boolean sqdAsyncNotify) {
    return new QpAttributes(kept)
        .rqPsn(transport.receivePsn())
        .sqPsn(transport.sendPsn())
        .sqdAsyncNotify(sqdAsyncNotify)
        .sqDraining(transport.isDraining())
        .capabilities(capabilities);
  }
}
