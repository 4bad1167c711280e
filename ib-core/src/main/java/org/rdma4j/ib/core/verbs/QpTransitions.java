package org.rdma4j.ib.core.verbs;

import java.util.Collections;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;

/**
 * The queue pair state table as data ({@code verbs.c:qp_state_table}, InfiniBand specification 11.2.5.2): which
 * transition is valid, and which attributes it requires and allows for each type. A valid transition without a row for
 * the type needs and allows none.
 */
final class QpTransitions {
  /** Required and optional attributes of a transition for a type. */
  record Rule(Set<QpAttribute> required, Set<QpAttribute> optional) {}

  private static final Rule NO_ATTRIBUTES = new Rule(Set.of(), Set.of());

  private static final Map<QpState, Map<QpState, Map<QpType, Rule>>> TABLE = new EnumMap<>(QpState.class);

  private static final Set<QpType> DATAGRAM = EnumSet.of(QpType.UD, QpType.SMI, QpType.GSI);
  private static final Set<QpType> MANAGEMENT = EnumSet.of(QpType.SMI, QpType.GSI);
  private static final Set<QpType> CONNECTED = EnumSet.of(QpType.RC, QpType.UC, QpType.XRC_INI, QpType.XRC_TGT);
  private static final Set<QpType> RC_TARGET = EnumSet.of(QpType.RC, QpType.XRC_TGT);
  private static final Set<QpType> UC_INITIATOR = EnumSet.of(QpType.UC, QpType.XRC_INI);

  static {
    for (QpState state : QpState.values()) {
      valid(state, QpState.RESET);
      if (state != QpState.RESET) {
        valid(state, QpState.ERR);
      }
    }
    fromReset();
    fromInit();
    fromRtr();
    fromRts();
    fromSqd();
    fromSqe();
  }

  private QpTransitions() {}

  private static void fromReset() {
    row(QpState.RESET, QpState.INIT, CONNECTED, "PKEY PORT ACC", "");
    row(QpState.RESET, QpState.INIT, EnumSet.of(QpType.UD), "PKEY PORT QKEY", "");
    row(QpState.RESET, QpState.INIT, MANAGEMENT, "PKEY QKEY", "");
    row(QpState.RESET, QpState.INIT, EnumSet.of(QpType.RAW_PACKET), "PORT", "");
  }

  private static void fromInit() {
    row(QpState.INIT, QpState.INIT, CONNECTED, "", "PKEY PORT ACC");
    row(QpState.INIT, QpState.INIT, EnumSet.of(QpType.UD), "", "PKEY PORT QKEY");
    row(QpState.INIT, QpState.INIT, MANAGEMENT, "", "PKEY QKEY");
    row(QpState.INIT, QpState.RTR, RC_TARGET, "AV MTU DQPN RQ_PSN MAXDEST RNRT", "ALT ACC PKEY");
    row(QpState.INIT, QpState.RTR, UC_INITIATOR, "AV MTU DQPN RQ_PSN", "ALT ACC PKEY");
    row(QpState.INIT, QpState.RTR, DATAGRAM, "", "PKEY QKEY");
  }

  private static void fromRtr() {
    QpState from = QpState.RTR;
    row(from, QpState.RTS, EnumSet.of(QpType.RC), "TO RETRY RNR_RETRY SQ_PSN MAXRD", "CUR ALT ACC RNRT MIG");
    row(from, QpState.RTS, EnumSet.of(QpType.UC), "SQ_PSN", "CUR ALT ACC MIG");
    row(from, QpState.RTS, DATAGRAM, "SQ_PSN", "CUR QKEY");
    row(from, QpState.RTS, EnumSet.of(QpType.XRC_INI), "TO RETRY RNR_RETRY SQ_PSN MAXRD", "CUR ALT ACC MIG");
    row(from, QpState.RTS, EnumSet.of(QpType.XRC_TGT), "TO SQ_PSN", "CUR ALT ACC RNRT MIG");
    row(from, QpState.RTS, EnumSet.of(QpType.RAW_PACKET), "", "RATE");
  }

  private static void fromRts() {
    QpState from = QpState.RTS;
    row(from, QpState.RTS, RC_TARGET, "", "CUR ACC ALT MIG RNRT");
    row(from, QpState.RTS, UC_INITIATOR, "", "CUR ACC ALT MIG");
    row(from, QpState.RTS, DATAGRAM, "", "CUR QKEY");
    row(from, QpState.RTS, EnumSet.of(QpType.RAW_PACKET), "", "RATE");
    row(from, QpState.SQD, CONNECTED, "", "SQDN");
    row(from, QpState.SQD, DATAGRAM, "", "SQDN");
  }

  private static void fromSqd() {
    QpState from = QpState.SQD;
    row(from, QpState.RTS, RC_TARGET, "", "CUR ALT ACC RNRT MIG");
    row(from, QpState.RTS, UC_INITIATOR, "", "CUR ALT ACC MIG");
    row(from, QpState.RTS, DATAGRAM, "", "CUR QKEY");
    row(from, from, EnumSet.of(QpType.RC), "", "PORT AV TO RETRY RNR_RETRY MAXRD MAXDEST ALT ACC PKEY RNRT MIG");
    row(from, from, EnumSet.of(QpType.UC), "", "AV ALT ACC PKEY MIG");
    row(from, from, DATAGRAM, "", "PKEY QKEY");
    row(from, from, EnumSet.of(QpType.XRC_INI), "", "PORT AV TO RETRY RNR_RETRY MAXRD ALT ACC PKEY MIG");
    row(from, from, EnumSet.of(QpType.XRC_TGT), "", "PORT AV TO MAXDEST ALT ACC PKEY RNRT MIG");
  }

  private static void fromSqe() {
    row(QpState.SQE, QpState.RTS, EnumSet.of(QpType.UC), "", "CUR ACC");
    row(QpState.SQE, QpState.RTS, DATAGRAM, "", "CUR QKEY");
  }

  /** The rule of a transition, or null where it is invalid. */
  static Rule rule(QpState from, QpState to, QpType type) {
    Map<QpType, Rule> rules = TABLE.getOrDefault(from, Map.of()).get(to);
    return rules == null ? null : rules.getOrDefault(type, NO_ATTRIBUTES);
  }

  private static Map<QpType, Rule> valid(QpState from, QpState to) {
    return TABLE.computeIfAbsent(from, ignored -> new EnumMap<>(QpState.class))
        .computeIfAbsent(to, ignored -> new EnumMap<>(QpType.class));
  }

  private static void row(QpState from, QpState to, Set<QpType> types, String required, String optional) {
    Rule rule = new Rule(attributes(required), attributes(optional));
    types.forEach(type -> valid(from, to).put(type, rule));
  }

  private static Set<QpAttribute> attributes(String names) {
    Set<QpAttribute> set = EnumSet.noneOf(QpAttribute.class);
    for (String name : names.split(" ", -1)) {
      if (!name.isEmpty()) {
        set.add(attribute(name));
      }
    }
    return Collections.unmodifiableSet(set);
  }

  private static QpAttribute attribute(String name) {
    return switch (name) {
      case "PKEY" -> QpAttribute.PKEY_INDEX;
      case "ACC" -> QpAttribute.ACCESS_FLAGS;
      case "MTU" -> QpAttribute.PATH_MTU;
      case "DQPN" -> QpAttribute.DEST_QPN;
      case "MAXDEST" -> QpAttribute.MAX_DEST_RD_ATOMIC;
      case "MAXRD" -> QpAttribute.MAX_QP_RD_ATOMIC;
      case "RNRT" -> QpAttribute.MIN_RNR_TIMER;
      case "ALT" -> QpAttribute.ALT_PATH;
      case "CUR" -> QpAttribute.CUR_STATE;
      case "MIG" -> QpAttribute.PATH_MIG_STATE;
      case "RETRY" -> QpAttribute.RETRY_CNT;
      case "TO" -> QpAttribute.TIMEOUT;
      case "SQDN" -> QpAttribute.EN_SQD_ASYNC_NOTIFY;
      case "RATE" -> QpAttribute.RATE_LIMIT;
      default -> QpAttribute.valueOf(name);
    };
  }
}
