package org.rdma4j.mlx5.device.internal;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import org.rdma4j.mlx5.device.internal.Firmware.State;
import org.rdma4j.mlx5.ifc.Command;
import org.rdma4j.mlx5.ifc.CommandStatus;
import org.rdma4j.mlx5.ifc.Field;
import org.rdma4j.mlx5.ifc.Layout;
import org.rdma4j.mlx5.ifc.Layouts;
import org.rdma4j.mlx5.ifc.Opcode;

/** Access registers: those of the port, the card's description, time-outs, the host's byte order. Engine thread. */
final class PortRegisters {
  private static final int PCAP = 0x5001;
  private static final int PMTU = 0x5003;
  private static final int PTYS = 0x5004;
  private static final int PAOS = 0x5006;
  private static final int PPCNT = 0x5008;
  private static final int NODE_DESC = 0x6001;
  private static final int HOST_ENDIANNESS = 0x7004;
  private static final int DTOR = 0xc00e;

  private static final Field ID = Command.in(Opcode.ACCESS_REG, "register_id");
  private static final int DATA = (int) Command.in(Opcode.ACCESS_REG, "register_data").offset();
  private static final int WRITE = 0;
  private static final int READ = 1;
  private static final int NODE_DESC_BYTES = 64;
  private static final int ENDIANNESS_BYTES = 16;
  private static final int PPCNT_BYTES = 256;
  private static final int UP = 1;
  private static final int DOWN = 2;
  private static final int ETHERNET = 4;
  private static final int DIRECT_ATTACH = 7;
  private static final int INFINIBAND_COUNTERS = 0x20;
  private static final int GROUP_MASK = 0x3f;
  private static final int LOCAL_PORT_SHIFT = 16;
  /** Where the counters begin; the lowest byte of their first word is link_downed_counter. */
  private static final int COUNTERS = 8;
  private static final ValueLayout.OfInt DWORD = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final int MAX_MTU = 9978;
  private static final int SECONDS = 1;

  private final Port port;
  private final MemorySegment description;

  PortRegisters(Firmware firmware, Port port) {
    this.port = port;
    this.description = Arena.ofAuto().allocate(NODE_DESC_BYTES, Long.BYTES);
    byte[] text = ("ConnectX-5 model on " + port.settings().port()).getBytes(StandardCharsets.US_ASCII);
    MemorySegment.copy(
        MemorySegment.ofArray(text), 0, description, 0, Math.min(text.length, NODE_DESC_BYTES - 1));
    firmware.add(Opcode.ACCESS_REG, State.ENABLED, this::access);
  }

  private void access(CommandCall call) throws CommandFailure {
    if (call.modifier() != READ && call.modifier() != WRITE) {
      throw new CommandFailure(CommandStatus.BAD_PARAMETER, Syndrome.UNKNOWN_MODIFIER);
    }
    boolean write = call.modifier() == WRITE;
    switch (call.get(ID)) {
      case PCAP -> readOnly(call, write, Layouts.of("pcap"), this::capabilities);
      case PMTU -> readOnly(call, write, Layouts.of("pmtu"), this::mtu);
      case PTYS -> readOnly(call, write, Layouts.of("ptys"), this::type);
      case PAOS -> state(call, write);
      case PPCNT -> counters(call, write);
      case NODE_DESC -> describe(call, write);
      case HOST_ENDIANNESS -> room(call, ENDIANNESS_BYTES);
      case DTOR -> readOnly(call, write, Layouts.of("dtor"), PortRegisters::timeouts);
      default -> throw new CommandFailure(CommandStatus.BAD_PARAMETER, Syndrome.UNKNOWN_REGISTER);
    }
  }

  private interface Filler {
    void fill(Layout layout, MemorySegment output);
  }

  /** The register comes with the command and goes back with its output. */
  private static void room(CommandCall call, long bytes) throws CommandFailure {
    if (call.input().byteSize() < DATA + bytes) {
      throw new CommandFailure(CommandStatus.BAD_INPUT_LENGTH, Syndrome.INPUT_TOO_SHORT);
    }
    if (call.output().byteSize() < DATA + bytes) {
      throw new CommandFailure(CommandStatus.BAD_OUTPUT_LENGTH, Syndrome.OUTPUT_TOO_SHORT);
    }
  }

  private static void readOnly(CommandCall call, boolean write, Layout layout, Filler filler) throws CommandFailure {
    if (write) {
      throw new CommandFailure(CommandStatus.BAD_PARAMETER, Syndrome.READ_ONLY_REGISTER);
    }
    room(call, layout.size());
    filler.fill(layout, call.output());
  }

  private static void put(Layout layout, MemorySegment output, String field, int value) {
    layout.field(field).set(output, DATA, value);
  }

  private void capabilities(Layout layout, MemorySegment output) {
    put(layout, output, "local_port", 1);
  }

  private void mtu(Layout layout, MemorySegment output) {
    int mtu = Math.min(MAX_MTU, port.settings().mtu());
    put(layout, output, "local_port", 1);
    put(layout, output, "max_mtu", MAX_MTU);
    put(layout, output, "admin_mtu", mtu);
    put(layout, output, "oper_mtu", mtu);
  }

  private void type(Layout layout, MemorySegment output) {
    int mode = 1 << linkMode(port.settings().megabits());
    put(layout, output, "local_port", 1);
    put(layout, output, "proto_mask", ETHERNET);
    put(layout, output, "eth_proto_capability", mode);
    put(layout, output, "eth_proto_admin", mode);
    put(layout, output, "eth_proto_oper", port.isUp() ? mode : 0);
    put(layout, output, "connector_type", DIRECT_ATTACH);
  }

  /** Bits of the legacy link modes ({@code port.h}: {@code MLX5E_*}). */
  private static int linkMode(int megabits) {
    if (megabits >= 100_000) {
      return 20;
    }
    if (megabits >= 50_000) {
      return 30;
    }
    if (megabits >= 40_000) {
      return 6;
    }
    if (megabits >= 25_000) {
      return 27;
    }
    return megabits >= 10_000 ? 12 : 1;
  }

  private void state(CommandCall call, boolean write) throws CommandFailure {
    Layout layout = Layouts.of("paos");
    room(call, layout.size());
    if (write) {
      int wanted = layout.field("admin_status").get(call.input(), DATA);
      if (wanted != UP && wanted != DOWN) {
        throw new CommandFailure(CommandStatus.BAD_PARAMETER, Syndrome.BAD_STATE);
      }
      if (layout.field("ase").isSet(call.input(), DATA)) {
        port.enabled(wanted == UP);
      }
    }
    put(layout, call.output(), "local_port", 1);
    put(layout, call.output(), "admin_status", port.isEnabled() ? UP : DOWN);
    put(layout, call.output(), "oper_status", port.isUp() ? UP : DOWN);
  }

  /** The counters that the performance management of InfiniBand reads; one of them is kept: link_downed_counter. */
  private void counters(CommandCall call, boolean write) throws CommandFailure {
    room(call, PPCNT_BYTES);
    int head = call.input().get(DWORD, DATA);
    if (write || (head & GROUP_MASK) != INFINIBAND_COUNTERS) {
      throw new CommandFailure(CommandStatus.BAD_PARAMETER, Syndrome.NOT_MODELLED);
    }
    call.output().set(DWORD, DATA, 1 << LOCAL_PORT_SHIFT | INFINIBAND_COUNTERS);
    call.output().set(DWORD, DATA + COUNTERS, Math.min(0xff, port.downs()));
  }

  private void describe(CommandCall call, boolean write) throws CommandFailure {
    room(call, NODE_DESC_BYTES);
    if (write) {
      MemorySegment.copy(call.input(), DATA, description, 0, NODE_DESC_BYTES);
    }
    MemorySegment.copy(description, 0, call.output(), DATA, NODE_DESC_BYTES);
  }

  private static void timeouts(Layout layout, MemorySegment output) {
    seconds(layout, output, "pcie_toggle_to", 2);
    seconds(layout, output, "health_poll_to", 2);
    seconds(layout, output, "full_crdump_to", 60);
    seconds(layout, output, "fw_reset_to", 60);
    seconds(layout, output, "flush_on_err_to", 2);
    seconds(layout, output, "pci_sync_update_to", 5);
    seconds(layout, output, "tear_down_to", 3);
    seconds(layout, output, "fsm_reactivate_to", 5);
    seconds(layout, output, "reclaim_pages_to", 5);
    seconds(layout, output, "reclaim_vfs_pages_to", 120);
  }

  private static void seconds(Layout layout, MemorySegment output, String timeout, int seconds) {
    put(layout, output, timeout + ".to_multiplier", SECONDS);
    put(layout, output, timeout + ".to_value", seconds);
  }
}
