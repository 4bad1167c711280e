package org.rdma4j.ib.core.verbs;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.Objects;
import java.util.Set;
import java.util.function.ToIntFunction;
import org.rdma4j.roce.address.PathMtu;

/** What the core checks of queue pairs and queues before a provider is asked. */
final class QpRules {
  private static final int MASK_24 = 0xffffff;
  private static final Set<QpState> HAVE_CURRENT =
      EnumSet.of(QpState.RTR, QpState.RTS, QpState.SQD, QpState.SQE);

  private QpRules() {}

  static void checkCqSize(int entries, DeviceAttributes attributes, String device) {
    limit("a completion queue", "entries", entries, 1, DeviceLimit.MAX_CQE, attributes, device);
  }

  static void checkSrqSize(int maxWr, DeviceAttributes attributes, String device) {
    limit("a shared receive queue", "max_wr", maxWr, 1, DeviceLimit.MAX_SRQ_WR, attributes, device);
  }

  static void checkCreate(SrqInitAttributes init, ProtectionDomain pd) {
    DeviceAttributes attributes = pd.context().attributes();
    String device = pd.context().deviceName();
    if (init.type() == SrqType.XRC) {
      checkXrc(attributes, device);
      checkXrcParent(init.xrcd(), "an XRC domain", pd);
      checkXrcParent(init.cq(), "a completion queue", pd);
    }
    checkSrqSize(init.maxWr(), attributes, device);
    limit("a shared receive queue", "max_sge", init.maxSge(), 0, DeviceLimit.MAX_SRQ_SGE, attributes, device);
    if (init.limit() < 0 || init.limit() > init.maxWr()) {
      throw invalid("srq_limit " + init.limit() + " is not between 0 and max_wr " + init.maxWr());
    }
  }

  private static void checkXrcParent(VerbsObject parent, String what, ProtectionDomain pd) {
    if (parent == null || parent.context() != pd.context()) {
      throw invalid("a shared receive queue of type XRC needs " + what + " of the context of " + pd + ": " + parent);
    }
  }

  /** Extended reliable connections are made only where the device has them. */
  static void checkXrc(DeviceAttributes attributes, String device) {
    if (!attributes.has(DeviceCapability.XRC)) {
      throw new VerbsException(Errno.EOPNOTSUPP, device + " has no extended reliable connections");
    }
  }

  /** Creation of a queue pair ({@code verbs.c:ib_create_qp}, {@code rxe_qp_chk_init}). */
  static void checkCreate(QpInitAttributes init, ProtectionDomain pd) {
    DeviceAttributes attributes = pd.context().attributes();
    String device = pd.context().deviceName();
    QpType type = init.type();
    if (type == QpType.XRC_TGT) {
      throw invalid("a queue pair of type XRC_TGT is made by an XRC domain; it has no protection domain");
    }
    if (type.isManagement()) {
      pd.deviceState().checkPort(init.port());
    }
    if (type == QpType.XRC_INI) {
      checkXrc(attributes, device);
      if (init.srq() != null) {
        throw invalid("a queue pair of type XRC_INI has no receives; it cannot have " + init.srq());
      }
    }
    if (type.hasSendQueue() && init.sendCq() == null) {
      throw invalid("a queue pair of type " + type + " needs a send completion queue");
    }
    if (type.hasReceiveQueue() && init.recvCq() == null) {
      throw invalid("a queue pair of type " + type + " needs a receive completion queue");
    }
    for (VerbsObject each : parents(init, pd)) {
      if (each.context() != pd.context()) {
        throw invalid(each + " belongs to another context than " + pd);
      }
    }
    QpCapabilities sizes = init.capabilities();
    String what = "a queue pair";
    limit(what, "max_send_wr", sizes.maxSendWr(), 0, DeviceLimit.MAX_QP_WR, attributes, device);
    limit(what, "max_send_sge", sizes.maxSendSge(), 0, DeviceLimit.MAX_SEND_SGE, attributes, device);
    limit(what, "max_inline_data", sizes.maxInlineData(), 0, DeviceLimit.MAX_INLINE_DATA, attributes, device);
    if (init.srq() == null) {
      limit(what, "max_recv_wr", sizes.maxRecvWr(), 0, DeviceLimit.MAX_QP_WR, attributes, device);
      limit(what, "max_recv_sge", sizes.maxRecvSge(), 0, DeviceLimit.MAX_RECV_SGE, attributes, device);
    }
  }

  /** What a queue pair pins, one entry a use ({@code ib_qp_usecnt_inc}). */
  static VerbsObject[] parents(QpInitAttributes init, ProtectionDomain pd) {
    VerbsObject[] all = {pd, init.sendCq(), init.recvCq(), init.srq()};
    return Arrays.stream(all).filter(Objects::nonNull).toArray(VerbsObject[]::new);
  }

  /**
   * Modification of a queue pair ({@code ib_modify_qp_is_ok}, {@code _ib_modify_qp}); cuts packet sequence numbers.
   *
   * @return the next state
   */
  static QpState checkModify(QueuePair qp, QpState actual, QpAttributes attr) {
    if (attr.has(QpAttribute.CUR_STATE)) {
      if (!HAVE_CURRENT.contains(attr.currentState())) {
        throw invalid("the current state of " + qp + " can be given as one of " + HAVE_CURRENT + " only");
      }
      if (attr.currentState() != actual) {
        throw invalid(qp + " is in " + actual + ", not in " + attr.currentState());
      }
    }
    QpState next = attr.has(QpAttribute.STATE) ? attr.state() : actual;
    checkMask(qp, actual, next, attr);
    checkRanges(qp, attr);
    attr.maskPsns(MASK_24);
    return next;
  }

  private static void checkMask(QueuePair qp, QpState from, QpState to, QpAttributes attr) {
    QpTransitions.Rule rule = QpTransitions.rule(from, to, qp.type());
    String what = qp + " of type " + qp.type() + " from " + from + " to " + to;
    if (rule == null) {
      throw invalid("there is no way of " + what);
    }
    Set<QpAttribute> missing = EnumSet.noneOf(QpAttribute.class);
    missing.addAll(rule.required());
    missing.removeAll(attr.mask());
    if (!missing.isEmpty()) {
      throw invalid("to move " + what + " the attributes " + missing + " are missing");
    }
    Set<QpAttribute> foreign = attr.mask();
    foreign.removeAll(rule.required());
    foreign.removeAll(rule.optional());
    foreign.remove(QpAttribute.STATE);
    if (!foreign.isEmpty()) {
      throw invalid("to move " + what + " the attributes " + foreign + " are not allowed");
    }
  }

  private static void checkRanges(QueuePair qp, QpAttributes attr) {
    DeviceAttributes device = qp.context().attributes();
    range(attr, QpAttribute.TIMEOUT, QpAttributes::timeout, 31);
    range(attr, QpAttribute.RETRY_CNT, QpAttributes::retryCount, 7);
    range(attr, QpAttribute.RNR_RETRY, QpAttributes::rnrRetry, 7);
    range(attr, QpAttribute.MIN_RNR_TIMER, QpAttributes::minRnrTimer, 31);
    range(attr, QpAttribute.DEST_QPN, QpAttributes::destQpNumber, MASK_24);
    range(
        attr, QpAttribute.MAX_QP_RD_ATOMIC, QpAttributes::maxRdAtomic, DeviceLimit.MAX_QP_INIT_RD_ATOM, device);
    range(
        attr, QpAttribute.MAX_DEST_RD_ATOMIC, QpAttributes::maxDestRdAtomic, DeviceLimit.MAX_QP_RD_ATOM, device);
    DeviceState state = qp.deviceState();
    if (attr.has(QpAttribute.PORT)) {
      state.checkPort(attr.port());
    }
    int port = attr.has(QpAttribute.PORT) ? attr.port() : Math.max(1, qp.port());
    if (attr.has(QpAttribute.PKEY_INDEX)) {
      state.pkeys(port).get(attr.pkeyIndex());
    }
    if (attr.has(QpAttribute.PATH_MTU)) {
      checkMtu(qp, attr.pathMtu(), port);
    }
    if (attr.has(QpAttribute.ALT_PATH) && state.immutable(port).isRoce()) {
      throw invalid("an alternate path of " + qp + " needs InfiniBand ports; port " + port + " is RoCE");
    }
  }

  private static void checkMtu(QueuePair qp, PathMtu mtu, int port) {
    PathMtu active = qp.deviceState().portInside(port).activeMtu();
    if (mtu == null || mtu.compareTo(active) > 0) {
      throw invalid(
          "path MTU " + (mtu == null ? "null" : mtu.bytes()) + " of " + qp + " exceeds the active MTU "
              + active.bytes() + " of port " + port);
    }
  }

  private static void range(QpAttributes attr, QpAttribute which, ToIntFunction<QpAttributes> value, long max) {
    if (attr.has(which) && (value.applyAsInt(attr) < 0 || value.applyAsInt(attr) > max)) {
      throw invalid(which + " " + value.applyAsInt(attr) + " is not between 0 and " + max);
    }
  }

  private static void range(
      QpAttributes attr,
      QpAttribute which,
      ToIntFunction<QpAttributes> value,
      DeviceLimit limit,
      DeviceAttributes device) {
    if (attr.has(which) && (value.applyAsInt(attr) < 0 || value.applyAsInt(attr) > device.limit(limit))) {
      throw invalid(
          which + " " + value.applyAsInt(attr) + " is not between 0 and " + limit.attributeName() + ", which is "
              + device.limit(limit));
    }
  }

  private static void limit(
      String what, String field, int value, int min, DeviceLimit limit, DeviceAttributes attributes, String device) {
    long max = attributes.limit(limit);
    if (value < min || value > max) {
      throw invalid(
          field + " " + value + " of " + what + " is not between " + min + " and " + limit.attributeName() + " of "
              + device + ", which is " + max);
    }
  }

  private static VerbsException invalid(String message) {
    return new VerbsException(Errno.EINVAL, message);
  }
}
