package org.rdma4j.mlx5.core.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rdma4j.mlx5.core.CapabilityType;
import org.rdma4j.mlx5.core.DeviceParameter;
import org.rdma4j.mlx5.core.DeviceState;
import org.rdma4j.mlx5.ifc.Command;
import org.rdma4j.mlx5.ifc.Layouts;
import org.rdma4j.mlx5.ifc.Opcode;

/** The order in which the kernel brings a card up and down, and that nothing is left wherever it ends. */
@Timeout(300)
class BringUpTest {
  /** Reference chapter 5, with the conditions that the scripted card fulfils. */
  private static final List<String> UP =
      List.of(
          "ENABLE_HCA 0", "QUERY_ISSI 0", "SET_ISSI 0", "QUERY_PAGES 1", "MANAGE_PAGES 1 8", "ACCESS_REG 1 0xc00e",
          "ACCESS_REG 0 0x7004", "QUERY_HCA_CAP 1", "QUERY_HCA_CAP 0", "SET_HCA_CAP 0", "QUERY_HCA_CAP 7",
          "QUERY_HCA_CAP 6", "SET_HCA_CAP 6", "QUERY_HCA_CAP 9", "QUERY_HCA_CAP 8", "QUERY_HCA_CAP 65",
          "QUERY_HCA_CAP 64", "SET_HCA_CAP 64", "QUERY_PAGES 2", "MANAGE_PAGES 1 140", "INIT_HCA 0",
          "SET_DRIVER_VERSION 0", "QUERY_HCA_CAP 1", "QUERY_HCA_CAP 0", "QUERY_HCA_CAP 65", "QUERY_HCA_CAP 64",
          "QUERY_HCA_CAP 7", "QUERY_HCA_CAP 6", "QUERY_HCA_CAP 9", "QUERY_HCA_CAP 8", "QUERY_ADAPTER 0",
          "ALLOC_UAR 0", "CREATE_EQ 0 0x400", "CREATE_EQ 0 0x1f02be", "CREATE_EQ 0 0x800");

  private static int completionQueues() {
    int vectors = Math.min(Runtime.getRuntime().availableProcessors() + 1, ScriptedCard.VECTORS);
    return Math.max(1, vectors - 1);
  }

  private static List<String> wholeUp() {
    List<String> all = new ArrayList<>(UP);
    for (int i = 0; i < completionQueues(); i++) {
      all.add("CREATE_EQ 0 0x0");
    }
    all.add("MODIFY_NIC_VPORT_CONTEXT 0");
    return all;
  }

  private static List<String> wholeDown() {
    List<String> all = new ArrayList<>();
    for (int i = 0; i < completionQueues() + 3; i++) {
      all.add("DESTROY_EQ 0");
    }
    all.addAll(List.of("DEALLOC_UAR 0", "TEARDOWN_HCA 0 0", "MANAGE_PAGES 2 768", "DISABLE_HCA 0"));
    return all;
  }

  @Test
  void commandsComeInTheKernelsOrder() {
    try (Bench bench = new Bench().start()) {
      assertEquals(wholeUp(), bench.card.commands);
      assertEquals(List.of("offer mlx5_core.rdma.0"), bench.history);
      assertEquals(148, bench.card.pages.size());
      assertEquals(DeviceState.UP, bench.device().state());
      assertEquals("16.35.1000", bench.device().firmwareVersion());
      assertEquals("RDM0000000001", bench.device().boardId());
      assertEquals(0x2c9, bench.device().vendorId());
      assertEquals(completionQueues(), bench.device().completionVectors());
      bench.card.commands.clear();
      bench.bus.unplug(Bench.SLOT);
      assertEquals(wholeDown(), bench.card.commands);
      assertNothingIsLeft(bench);
    }
  }

  private static void assertNothingIsLeft(Bench bench) {
    assertEquals(Set.of(), bench.card.pages);
    assertEquals(List.of(), bench.card.queueNumbers());
    assertEquals(List.of(), bench.offered);
    assertEquals(List.of(), bench.shown);
    assertEquals(List.of(), bench.bus.interrupts());
    assertEquals(List.of(), Bench.threads());
  }

  @Test
  void interruptsAreNamedAndTheLastVectorIsTheControlOne() {
    try (Bench bench = new Bench().start()) {
      List<String> names = bench.bus.interrupts().stream().map(each -> each.name()).toList();
      List<String> expected = new ArrayList<>();
      for (int i = 0; i < completionQueues(); i++) {
        expected.add("mlx5_comp" + i);
      }
      assertTrue(names.containsAll(expected), names::toString);
      assertTrue(names.contains("mlx5_async"), names::toString);
      int last = completionQueues();
      assertEquals(
          last,
          bench.bus.interrupts().stream().filter(each -> each.name().equals("mlx5_async")).findFirst().get().vector());
    }
  }

  @Test
  void settingsOfTheDriverReachTheCard() {
    try (Bench bench = new Bench()) {
      bench.card.capability(CapabilityType.GENERAL, "log_max_qp", 20);
      bench.card.capability(CapabilityType.GENERAL, "pkey_table_size", 5);
      bench.start();
      assertEquals(18, bench.card.capability(CapabilityType.GENERAL, "log_max_qp"));
      assertEquals(0, bench.card.capability(CapabilityType.GENERAL, "pkey_table_size"));
      assertEquals(0, bench.card.capability(CapabilityType.GENERAL, "cmdif_checksum"));
      assertEquals(1, bench.card.capability(CapabilityType.ATOMIC, "atomic_req_8B_endianness_mode"));
    }
  }

  /** Every command of the way up fails once: what was done is undone, and nothing is left. */
  @Test
  void whereverItFailsNothingIsLeft() {
    Set<Opcode> opcodes = new LinkedHashSet<>();
    for (String command : wholeUp()) {
      opcodes.add(Opcode.valueOf(command.substring(0, command.indexOf(' '))));
    }
    opcodes.remove(Opcode.QUERY_ISSI);
    for (Opcode opcode : opcodes) {
      try (Bench bench = new Bench()) {
        bench.card.answers.put(opcode, (input, output) -> isGiving(opcode, input) ? 1 : 0);
        bench.start();
        assertEquals(List.of(), bench.history, opcode.text());
        assertFalse(bench.bus.function(Bench.SLOT).get().driverName().isPresent(), opcode.text());
        assertNothingIsLeft(bench);
        boolean enabled = bench.card.commands.contains("ENABLE_HCA 0") && opcode != Opcode.ENABLE_HCA;
        assertEquals(enabled, bench.card.commands.getLast().equals("DISABLE_HCA 0"), bench.card.commands::toString);
      }
    }
  }

  /** Taking pages back is not to fail. */
  private static boolean isGiving(Opcode opcode, MemorySegment input) {
    return opcode != Opcode.MANAGE_PAGES || Command.OP_MOD.get(input, 0) == 1;
  }

  @Test
  void eachEventQueueFails() {
    for (int failing = 0; failing < 3 + completionQueues(); failing++) {
      try (Bench bench = new Bench()) {
        int which = failing;
        int[] count = {0};
        bench.card.answers.put(Opcode.CREATE_EQ, (input, output) -> count[0]++ == which ? 0xf : 0);
        bench.start();
        assertNothingIsLeft(bench);
        assertEquals("DISABLE_HCA 0", bench.card.commands.getLast());
      }
    }
  }

  @Test
  void anOldFirmwareHasInterfaceVersionZero() {
    try (Bench bench = new Bench()) {
      bench.card.answers.put(Opcode.QUERY_ISSI, (input, output) -> 2);
      bench.start();
      assertFalse(bench.card.commands.contains("SET_ISSI 0"));
      assertEquals(DeviceState.UP, bench.device().state());
    }
  }

  @Test
  void wrongRevisionIsRefusedBeforeAnyCommand() {
    try (Bench bench = new Bench()) {
      bench.card.set("cmd_interface_rev", 4);
      bench.start();
      assertEquals(List.of(), bench.card.commands);
      assertNothingIsLeft(bench);
    }
  }

  @Test
  void pagesStayWhenTheCardDoesNotLetGo() {
    try (Bench bench = new Bench().start()) {
      bench.card.answers.put(Opcode.TEARDOWN_HCA, (input, output) -> 4);
      bench.card.commands.clear();
      bench.bus.unplug(Bench.SLOT);
      assertEquals("TEARDOWN_HCA 0 0", bench.card.commands.getLast());
      assertEquals(148, bench.card.pages.size(), "they were not asked for");
      assertEquals(List.of(), Bench.threads());
    }
  }

  @Test
  void pulledOutTheCardGetsNoCommand() {
    try (Bench bench = new Bench().start()) {
      bench.card.commands.clear();
      bench.bus.pull(Bench.SLOT);
      assertEquals(List.of(), bench.card.commands);
      assertEquals(List.of(), bench.offered);
      assertEquals(List.of(), bench.bus.interrupts());
      assertEquals(List.of(), Bench.threads());
    }
  }

  @Test
  void reloadTakesNewSettings() {
    try (Bench bench = new Bench().start()) {
      var device = bench.device();
      device.parameter(DeviceParameter.ENABLE_RDMA, 0);
      bench.card.commands.clear();
      device.reload();
      List<String> expected = new ArrayList<>(wholeDown());
      expected.addAll(wholeUp());
      assertEquals(expected, bench.card.commands);
      assertEquals(List.of("offer mlx5_core.rdma.0", "withdraw mlx5_core.rdma.0"), bench.history);
      device.parameter(DeviceParameter.ENABLE_RDMA, 1);
      device.reload();
      assertEquals("offer mlx5_core.rdma.0", bench.history.getLast());
    }
  }

  @Test
  void shutdownIsFastWhenTheCardCan() {
    try (Bench bench = new Bench()) {
      bench.card.capability(CapabilityType.GENERAL, "fast_teardown", 1);
      bench.start();
      bench.card.commands.clear();
      bench.shutdown();
      assertEquals(List.of("TEARDOWN_HCA 0 2"), bench.card.commands);
      assertEquals(1, Layouts.INIT_SEGMENT.field("nic_interface").get(bench.card.registers, 0));
      assertEquals(List.of(), bench.bus.interrupts());
    }
  }
}
