package org.rdma4j.mlx5.ib;

import java.util.EnumMap;
import java.util.Map;
import java.util.Set;
import org.rdma4j.ib.core.verbs.Access;
import org.rdma4j.ib.core.verbs.AhAttributes;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.MigrationState;
import org.rdma4j.ib.core.verbs.ProtectionDomain;
import org.rdma4j.ib.core.verbs.QpAttribute;
import org.rdma4j.ib.core.verbs.QpAttributes;
import org.rdma4j.ib.core.verbs.QpState;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.mlx5.core.QueuePairCommands;
import org.rdma4j.mlx5.core.QueuePairCommands.Transition;
import org.rdma4j.mlx5.core.Structure;
import org.rdma4j.mlx5.ifc.Layouts;
import org.rdma4j.roce.address.PathMtu;

/**
 * Changes of state and attributes as commands of the card (kernel: {@code qp.c:__mlx5_ib_modify_qp}): which command, a
 * context with all that is known, and the mask of what is optional.
 */
final class QpModifier {
  private static final int READS = 1 << 1;
  private static final int ATOMICS = 1 << 2;
  private static final int WRITES = 1 << 3;
  private static final int PKEY = 1 << 4;
  private static final int QKEY = 1 << 5;
  private static final int RNR_TIMER = 1 << 6;
  private static final int MIGRATION = 1 << 10;
  private static final int PORT = 1 << 16;
  private static final int RIGHTS = READS | ATOMICS | WRITES;

  private static final int MIGRATED = 3;
  private static final int LARGEST_MTU = 5;
  private static final int LOG_DATAGRAM = 12;
  private static final int LOG_MAD = 8;
  private static final int ACK_FREQUENCY = 8;
  private static final int IB_ATOMICS = 1;
  private static final int STATE_SQ_ERROR = 4;
  private static final int STATE_ERROR = 6;
  private static final String PATH = "primary_address_path.";

  private static final Map<QpAttribute, Integer> OPTIONAL = new EnumMap<>(QpAttribute.class);

  static {
    OPTIONAL.put(QpAttribute.ACCESS_FLAGS, RIGHTS);
    OPTIONAL.put(QpAttribute.PKEY_INDEX, PKEY);
    OPTIONAL.put(QpAttribute.PORT, PORT);
    OPTIONAL.put(QpAttribute.QKEY, QKEY);
    OPTIONAL.put(QpAttribute.MIN_RNR_TIMER, RNR_TIMER);
    OPTIONAL.put(QpAttribute.MAX_DEST_RD_ATOMIC, RIGHTS);
    OPTIONAL.put(QpAttribute.PATH_MIG_STATE, MIGRATION);
  }

  private final ConnectxDevice device;
  private final IbQueuePair qp;
  private volatile QpAttributes kept = fresh(); // changed on the control path

  QpModifier(ConnectxDevice device, IbQueuePair qp) {
    this.device = device;
    this.qp = qp;
  }

  private static QpAttributes fresh() {
    return new QpAttributes().pathMtu(PathMtu.MTU_256);
  }

  /** What was asked for so far; not to be changed. */
  QpAttributes known() {
    return kept;
  }

  void modify(QpAttributes wanted) {
    if (wanted.has(QpAttribute.PATH_MIG_STATE) && wanted.pathMigrationState() != MigrationState.MIGRATED) {
      throw new VerbsException(Errno.EOPNOTSUPP, "path migration of " + qp + ": there is no alternate path on RoCE");
    }
    QpState from = qp.state();
    QpState to = wanted.has(QpAttribute.STATE) ? wanted.state() : from;
    switch (to) {
      case RESET -> {
        if (from != QpState.RESET) {
          Errors.translatedRun(() -> QueuePairCommands.toReset(device.core(), qp.cardNumber()));
          device.core().takeEvents(); // None of before comes into the time after.
          qp.forget();
        }
        kept = fresh();
      }
      case ERR -> Errors.translatedRun(() -> QueuePairCommands.toError(device.core(), qp.cardNumber()));
      default -> change(transition(from, to), wanted);
    }
  }

  private Transition transition(QpState from, QpState to) {
    Transition found =
        switch (from) {
          case RESET -> to == QpState.INIT ? Transition.RST2INIT : null;
          case INIT ->
              switch (to) {
                case INIT -> Transition.INIT2INIT;
                case RTR -> Transition.INIT2RTR;
                default -> null;
              };
          case RTR -> to == QpState.RTS ? Transition.RTR2RTS : null;
          case RTS -> to == QpState.RTS ? Transition.RTS2RTS : null;
          case SQD -> to == QpState.RTS ? Transition.SQD_RTS : null;
          case SQE -> to == QpState.RTS ? Transition.SQERR2RTS : null;
          case ERR -> null;
        };
    if (found == null) {
      throw new VerbsException(
          Errno.EINVAL, qp + " from " + from + " to " + to + ": the card has no command for this transition");
    }
    return found;
  }

  private void change(Transition transition, QpAttributes wanted) {
    QpAttributes next = merged(kept, wanted);
    int optional = 0;
    for (QpAttribute each : wanted.mask()) {
      optional |= OPTIONAL.getOrDefault(each, 0);
    }
    int mask = optional & allowed(transition);
    Errors.translatedRun(
        () ->
            QueuePairCommands.modify(
                device.core(), transition, qp.cardNumber(), mask, context -> fill(context, next, wanted)));
    kept = next;
  }

  /** What may be changed besides what the transition always takes ({@code opt_mask}). */
  private int allowed(Transition transition) {
    boolean connected = !qp.isDatagram();
    boolean reliable = qp.type() != QpType.UC;
    int rights = reliable ? RIGHTS : WRITES;
    return switch (transition) {
      case RST2INIT -> 0;
      case INIT2INIT -> connected ? rights | PKEY | PORT : PKEY | QKEY | PORT;
      case INIT2RTR -> connected ? rights | PKEY : PKEY | QKEY;
      case RTR2RTS, RTS2RTS ->
          connected ? rights | MIGRATION | (reliable ? RNR_TIMER : 0) : QKEY;
      case SQERR2RTS, SQD_RTS -> connected ? rights | (reliable ? RNR_TIMER : 0) : QKEY;
    };
  }

  private void fill(Structure context, QpAttributes all, QpAttributes wanted) {
    context
        .set("st", QpCreation.service(qp.type()))
        .set("pm_state", MIGRATED)
        .set("pd", domain())
        .set("cqn_snd", qp.sendQueue() == null ? 0 : qp.sendQueue().number())
        .set("cqn_rcv", qp.receiveQueue() == null ? 0 : qp.receiveQueue().number())
        .set("counter_set_id", device.counterSet())
        .set("mtu", mtu(all))
        .set("log_msg_max", logMaxMessage())
        .set("remote_qpn", all.destQpNumber())
        .set("log_ack_req_freq", ACK_FREQUENCY)
        .set("log_sra_max", log(all.maxRdAtomic()))
        .set("log_rra_max", log(all.maxDestRdAtomic()))
        .set("retry_count", all.retryCount())
        .set("rnr_retry", all.rnrRetry())
        .set("min_rnr_nak", all.minRnrTimer())
        .set("next_send_psn", wanted.sqPsn())
        .set("next_rcv_psn", wanted.rqPsn())
        .set("q_key", all.qkey())
        .setLong("dbr_addr", qp.recordAddress());
    rights(context, all);
    boolean management = qp.type().isManagement();
    context
        .set(PATH + "pkey_index", all.pkeyIndex())
        .set(PATH + "vhca_port_num", management ? qp.port() : all.port())
        .set(PATH + "ack_timeout", all.timeout());
    if (all.has(QpAttribute.AV)) {
      path(context, all.addressVector());
    }
  }

  private int mtu(QpAttributes all) {
    return qp.isDatagram() && qp.type() != QpType.GSI ? LARGEST_MTU : all.pathMtu().code();
  }

  private int logMaxMessage() {
    return switch (qp.type()) {
      case GSI -> LOG_MAD;
      case UD -> LOG_DATAGRAM;
      default -> device.logMaxMessage();
    };
  }

  private int domain() {
    ProtectionDomain domain = qp.protectionDomain();
    return domain == null ? device.resources().pd() : ((IbProtectionDomain) domain).number();
  }

  /** Without room for READs and atomics of the peer only its WRITEs are let in ({@code qp.c:set_qpc_atomic_flags}). */
  private static void rights(Structure context, QpAttributes all) {
    Set<Access> access = all.access();
    boolean answers = all.maxDestRdAtomic() > 0;
    boolean atomics = answers && access.contains(Access.REMOTE_ATOMIC);
    context
        .set("rwe", access.contains(Access.REMOTE_WRITE) ? 1 : 0)
        .set("rre", answers && access.contains(Access.REMOTE_READ) ? 1 : 0)
        .set("rae", atomics ? 1 : 0)
        .set("atomic_mode", atomics ? IB_ATOMICS : 0);
  }

  private void path(Structure context, AhAttributes path) {
    context
        .set(PATH + "src_addr_index", path.sourceGid().index())
        .set(PATH + "hop_limit", path.hopLimit())
        .set(PATH + "tclass", path.trafficClass())
        .set(PATH + "flow_label", path.flowLabel())
        .set(PATH + "dscp", path.trafficClass() >>> 2)
        .set(PATH + "eth_prio", path.serviceLevel() & 7)
        .set(PATH + "udp_sport", device.sourcePort(path.flowLabel()));
    path.destinationGid()
        .writeTo(context.memory(), context.base() + Layouts.QPC.field(PATH + "rgid_rip").offset());
  }

  /** The logarithm, rounded up; 0 for nothing. */
  private static int log(int count) {
    return count <= 1 ? 0 : Sizes.log(Sizes.roundUp(count));
  }

  private static QpAttributes merged(QpAttributes old, QpAttributes wanted) {
    QpAttributes next = new QpAttributes(old);
    for (QpAttribute each : wanted.mask()) {
      switch (each) {
        case ACCESS_FLAGS -> next.access(wanted.access());
        case PKEY_INDEX -> next.pkeyIndex(wanted.pkeyIndex());
        case PORT -> next.port(wanted.port());
        case QKEY -> next.qkey(wanted.qkey());
        case AV -> next.addressVector(wanted.addressVector());
        case PATH_MTU -> next.pathMtu(wanted.pathMtu());
        case TIMEOUT -> next.timeout(wanted.timeout());
        case RETRY_CNT -> next.retryCount(wanted.retryCount());
        case RNR_RETRY -> next.rnrRetry(wanted.rnrRetry());
        case MAX_QP_RD_ATOMIC -> next.maxRdAtomic(wanted.maxRdAtomic());
        case MIN_RNR_TIMER -> next.minRnrTimer(wanted.minRnrTimer());
        case MAX_DEST_RD_ATOMIC -> next.maxDestRdAtomic(wanted.maxDestRdAtomic());
        case PATH_MIG_STATE -> next.pathMigrationState(wanted.pathMigrationState());
        case DEST_QPN -> next.destQpNumber(wanted.destQpNumber());
        default -> {
          // Of the transition, or refused by the core.
        }
      }
    }
    return next;
  }

  /** What was asked for, with what the card says of state and sequence numbers. */
  QpAttributes query() {
    Structure context = Errors.translated(() -> QueuePairCommands.query(device.core(), qp.cardNumber()));
    switch (context.get("state")) {
      case STATE_SQ_ERROR -> qp.learned(QpState.SQE);
      case STATE_ERROR -> qp.learned(QpState.ERR);
      default -> {
        // As it was asked for.
      }
    }
    return new QpAttributes(kept)
        .rqPsn(context.get("next_rcv_psn"))
        .sqPsn(context.get("next_send_psn"))
        .sqdAsyncNotify(false)
        .sqDraining(false)
        .capabilities(qp.capabilities());
  }
}
