package org.rdma4j.ib.core.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/**
 * The state table against the kernel's, written down in {@code qp-state-table.md} as extracted from Linux 6.1: every
 * pair of states with every type.
 */
class QpTransitionsTest {
  private static final Map<String, String> FULL_NAMES =
      Map.ofEntries(
          Map.entry("PKEY", "PKEY_INDEX"),
          Map.entry("ACC", "ACCESS_FLAGS"),
          Map.entry("MTU", "PATH_MTU"),
          Map.entry("DQPN", "DEST_QPN"),
          Map.entry("MAXDEST", "MAX_DEST_RD_ATOMIC"),
          Map.entry("RNRT", "MIN_RNR_TIMER"),
          Map.entry("ALT", "ALT_PATH"),
          Map.entry("CUR", "CUR_STATE"),
          Map.entry("MIG", "PATH_MIG_STATE"),
          Map.entry("MAXRD", "MAX_QP_RD_ATOMIC"),
          Map.entry("RETRY", "RETRY_CNT"),
          Map.entry("TO", "TIMEOUT"),
          Map.entry("SQDN", "EN_SQD_ASYNC_NOTIFY"),
          Map.entry("RATE", "RATE_LIMIT"));

  private record Key(QpState from, QpState to, QpType type) {}

  @Test
  void isTheKernelsTable() throws IOException {
    Map<Key, QpTransitions.Rule> expected = new HashMap<>();
    Set<String> validPairs = new HashSet<>();
    read(expected, validPairs);
    assertEquals(22, validPairs.size());
    for (QpState from : QpState.values()) {
      for (QpState to : QpState.values()) {
        for (QpType type : QpType.values()) {
          Key key = new Key(from, to, type);
          QpTransitions.Rule actual = QpTransitions.rule(from, to, type);
          if (validPairs.contains(from + " " + to)) {
            assertEquals(expected.getOrDefault(key, new QpTransitions.Rule(Set.of(), Set.of())), actual, key::toString);
          } else {
            assertNull(actual, key::toString);
          }
        }
      }
    }
  }

  private static void read(Map<Key, QpTransitions.Rule> rules, Set<String> validPairs) throws IOException {
    try (BufferedReader reader =
        new BufferedReader(
            new InputStreamReader(
                QpTransitionsTest.class.getResourceAsStream("qp-state-table.md"), StandardCharsets.UTF_8))) {
      reader
          .lines()
          .filter(line -> line.startsWith("| ") && line.contains("→") && !line.startsWith("| from"))
          .map(line -> line.split("\\|", -1))
          .forEach(cells -> row(cells, rules, validPairs));
    }
  }

  private static void row(String[] cells, Map<Key, QpTransitions.Rule> rules, Set<String> validPairs) {
    String[] states = cells[1].strip().split(" → ", -1);
    QpState from = QpState.valueOf(states[0]);
    QpState to = QpState.valueOf(states[1]);
    validPairs.add(from + " " + to);
    if (cells[2].strip().equals("any")) {
      return;
    }
    for (String type : cells[2].strip().split(", ", -1)) {
      rules.put(new Key(from, to, QpType.valueOf(type)), new QpTransitions.Rule(set(cells[3]), set(cells[4])));
    }
  }

  private static Set<QpAttribute> set(String cell) {
    Set<QpAttribute> set = EnumSet.noneOf(QpAttribute.class);
    for (String name : cell.strip().split(" ", -1)) {
      if (!name.equals("—")) {
        set.add(QpAttribute.valueOf(FULL_NAMES.getOrDefault(name, name)));
      }
    }
    return set;
  }
}
