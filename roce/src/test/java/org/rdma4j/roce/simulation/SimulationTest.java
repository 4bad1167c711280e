package org.rdma4j.roce.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.rdma4j.roce.engine.CompletionStatus;
import org.rdma4j.roce.engine.EngineCounter;
import org.rdma4j.roce.engine.QpEvent;
import org.rdma4j.roce.engine.QpKind;
import org.rdma4j.roce.engine.WorkOpcode;

/**
 * Many seeds of {@link Simulation}. {@code -Drdma.sim.seed=N} repeats one, {@code -Drdma.sim.seeds=N} runs so many,
 * {@code -Drdma.sim.first=N} begins elsewhere than at 1.
 */
class SimulationTest {
  private static final long SEEDS = 10_000;
  private static final List<String> FAULTS =
      List.of(
          "packet lost", "packet damaged", "packet doubled", "packet overtaken", "packet cut off", "link full",
          "queue pair late", "queue pair stopped", "pair replaced", "memory taken away", "receive with a wrong key",
          "P_Key changed", "send queue drained", "send queue failed alone");

  /** What does not occur, and why. */
  private static final Map<Object, String> NEVER =
      Map.ofEntries(
          Map.entry(QpKind.GSI, "is UD with a fixed Q_Key"),
          Map.entry(CompletionStatus.BAD_RESPONSE, "takes a peer that answers wrongly: PacketFuzzTest"),
          Map.entry(CompletionStatus.LOCAL_ACCESS_ERROR, "is none that the engine has"),
          Map.entry(CompletionStatus.FATAL, "takes a host that throws: EngineTest"),
          Map.entry(QpEvent.FATAL, "takes a host that throws"),
          Map.entry(EngineCounter.DROPPED_MALFORMED, "damaged packets have a wrong ICRC: PacketFuzzTest"),
          Map.entry(EngineCounter.BAD_QKEY, "takes a foreign sender: DatagramTest"),
          Map.entry(EngineCounter.LINK_DOWNED, "the link stays up"),
          Map.entry(EngineCounter.SEND_ERR, "the link stays up"),
          Map.entry(EngineCounter.FAULTS, "takes a host that throws"));

  @Test
  void everySeed() throws InterruptedException {
    Long one = Long.getLong("rdma.sim.seed");
    long first = one != null ? one : Long.getLong("rdma.sim.first", 1);
    long count = one != null ? 1 : Long.getLong("rdma.sim.seeds", SEEDS);
    var runner = new SimulationRunner(Runtime.getRuntime().availableProcessors(), done -> {});
    SimulationRunner.Result result = runner.run(first, count);
    assertNull(result.failure());
    assertEquals(count, result.seeds());
    if (count >= SEEDS) {
      assertEquals(List.of(), missing(result.tally()), "never occurred");
    }
  }

  /** Every operation, service, way to end, event, counter and fault, unless there is a reason against it. */
  private static List<String> missing(Tally tally) {
    List<String> missing = new ArrayList<>();
    for (Field opcode : WorkOpcode.class.getFields()) {
      require(missing, tally.count(Tally.OPERATIONS, "RC " + opcode.getName()) > 0, "RC " + opcode.getName());
    }
    for (String name : List.of(
        "RC RDMA_READ by BIND_MW", "RC RDMA_WRITE by REG_MR", "RC SEND_WITH_INV by BIND_MW",
        "RC SEND_WITH_INV by REG_MR", "UC RDMA_WRITE_WITH_IMM", "UD SEND to a group")) {
      require(missing, tally.count(Tally.OPERATIONS, name) > 0, name);
    }
    Set<String> completions = tally.group(Tally.COMPLETIONS).keySet();
    for (QpKind kind : QpKind.values()) {
      require(missing, completions.stream().anyMatch(name -> name.contains(" " + kind + " ")), kind);
    }
    for (CompletionStatus status : CompletionStatus.values()) {
      require(missing, completions.stream().anyMatch(name -> name.endsWith(" " + status)), status);
    }
    for (QpEvent event : QpEvent.values()) {
      require(missing, tally.count(Tally.EVENTS, event.name()) > 0, event);
    }
    for (EngineCounter counter : EngineCounter.values()) {
      require(missing, tally.count(Tally.COUNTERS, counter.label()) > 0, counter);
    }
    for (SimOp.Flaw flaw : SimOp.Flaw.values()) {
      require(missing, flaw == SimOp.Flaw.NONE || tally.count(Tally.FAULTS, "flaw " + flaw) > 0, "flaw " + flaw);
    }
    FAULTS.forEach(fault -> require(missing, tally.count(Tally.FAULTS, fault) > 0, fault));
    return missing;
  }

  private static void require(List<String> missing, boolean occurred, Object what) {
    if (occurred && NEVER.containsKey(what)) {
      missing.add(what + " occurred, though it " + NEVER.get(what));
    } else if (!occurred && !NEVER.containsKey(what)) {
      missing.add(String.valueOf(what));
    }
  }
}
