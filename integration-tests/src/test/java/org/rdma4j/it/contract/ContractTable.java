package org.rdma4j.it.contract;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** The reports of all pairings side by side: a line for each case, and below it what was skipped or failed, and why. */
final class ContractTable {
  private static final int NAME_WIDTH = 34;

  private final List<String> pairings = new ArrayList<>();
  private final Map<String, Map<String, String>> outcomes = new LinkedHashMap<>();
  private final List<String> reasons = new ArrayList<>();

  synchronized void add(String pairing, String name, String outcome, String detail) {
    if (!pairings.contains(pairing)) {
      pairings.add(pairing);
    }
    outcomes.computeIfAbsent(name, key -> new LinkedHashMap<>()).put(pairing, outcome);
    if (detail != null) {
      reasons.add(pairing + " " + outcome + " " + name + ": " + detail);
    }
  }

  synchronized String text() {
    StringBuilder text = new StringBuilder();
    row(text, "case", pairings);
    outcomes.forEach(
        (name, found) -> row(text, name, pairings.stream().map(each -> found.getOrDefault(each, "-")).toList()));
    for (String outcome : List.of("PASS", "SKIP", "FAIL")) {
      row(text, outcome, pairings.stream().map(each -> String.valueOf(count(each, outcome))).toList());
    }
    return text.append('\n').append(String.join("\n", reasons)).append('\n').toString();
  }

  private long count(String pairing, String outcome) {
    return outcomes.values().stream().filter(found -> outcome.equals(found.get(pairing))).count();
  }

  private static void row(StringBuilder text, String name, List<String> cells) {
    text.append(String.format("%-" + NAME_WIDTH + "s", name));
    text.append(cells.stream().map(each -> String.format("%-12s", each)).collect(Collectors.joining()).stripTrailing());
    text.append('\n');
  }
}
