package org.rdma4j.mlx5.device.internal;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import org.rdma4j.mlx5.device.internal.Firmware.State;
import org.rdma4j.mlx5.ifc.Command;
import org.rdma4j.mlx5.ifc.CommandStatus;
import org.rdma4j.mlx5.ifc.Field;
import org.rdma4j.mlx5.ifc.Opcode;
import org.rdma4j.mlx5.ifc.VendorSyndromes;

/** Commands that bring the function up and down, and those that tell what it is. Engine thread. */
final class FunctionCommands {
  private static final int ISSI = 1;
  private static final int BOOT = 1;
  private static final int INIT = 2;
  private static final int MELLANOX_OUI = 0x0002c9;
  private static final int GRACEFUL = 0;
  private static final int PREPARE_FAST = 2;

  private static final Field ENABLED_FUNCTION = Command.in(Opcode.ENABLE_HCA, "function_id");
  private static final Field WANTED_ISSI = Command.in(Opcode.SET_ISSI, "current_issi");
  private static final Field CURRENT_ISSI = Command.out(Opcode.QUERY_ISSI, "current_issi");
  private static final Field SUPPORTED_ISSI = Command.out(Opcode.QUERY_ISSI, "supported_issi_dw0");
  private static final Field READ_CAPABILITY = Command.out(Opcode.QUERY_HCA_CAP, "capability");
  private static final Field WRITTEN_CAPABILITY = Command.in(Opcode.SET_HCA_CAP, "capability");
  private static final Field ADAPTER = Command.out(Opcode.QUERY_ADAPTER, "query_adapter_struct");
  private static final int ADAPTER_OUI = 0x18;
  private static final int ADAPTER_BOARD = 0xf0;
  private static final Field PROFILE = Command.in(Opcode.TEARDOWN_HCA, "profile");

  private final Firmware firmware;
  private final Capabilities capabilities;
  private final HostPages pages;
  private final Objects objects;
  private int issi;

  FunctionCommands(Firmware firmware, Capabilities capabilities, Objects objects) {
    this.firmware = firmware;
    this.capabilities = capabilities;
    this.objects = objects;
    this.pages = objects.pages();
    firmware.add(Opcode.ENABLE_HCA, State.DISABLED, this::enable);
    firmware.add(Opcode.DISABLE_HCA, State.ENABLED, this::disable);
    firmware.add(Opcode.QUERY_ISSI, State.ENABLED, this::queryIssi);
    firmware.add(Opcode.SET_ISSI, State.ENABLED, this::setIssi);
    firmware.add(Opcode.QUERY_HCA_CAP, State.ENABLED, this::queryCapabilities);
    firmware.add(Opcode.SET_HCA_CAP, State.ENABLED, this::setCapabilities);
    firmware.add(Opcode.INIT_HCA, State.ENABLED, this::initialize);
    firmware.add(Opcode.TEARDOWN_HCA, State.INITIALIZED, this::tearDown);
    firmware.add(Opcode.QUERY_ADAPTER, State.ENABLED, this::queryAdapter);
    firmware.add(Opcode.SET_DRIVER_VERSION, State.INITIALIZED, call -> {});
  }

  /** How many pages the card still wants before it can do more. */
  int wanted(int modifier) {
    return switch (modifier) {
      case BOOT -> Math.max(0, Limits.BOOT_PAGES - pages.size());
      case INIT -> Math.max(0, Limits.BOOT_PAGES + Limits.INIT_PAGES - pages.size());
      default -> 0;
    };
  }

  private void enable(CommandCall call) throws CommandFailure {
    if (firmware.state() != State.DISABLED) {
      throw new CommandFailure(CommandStatus.BAD_SYSTEM_STATE, Syndrome.ENABLED_ALREADY);
    }
    if (call.get(ENABLED_FUNCTION) != 0) {
      throw new CommandFailure(CommandStatus.BAD_PARAMETER, Syndrome.OTHER_FUNCTION);
    }
    issi = 0;
    firmware.state(State.ENABLED);
  }

  private void disable(CommandCall call) throws CommandFailure {
    if (firmware.state() == State.INITIALIZED) {
      throw new CommandFailure(CommandStatus.BAD_SYSTEM_STATE, Syndrome.INITIALIZED_ALREADY);
    }
    if (pages.size() > 0) {
      throw new CommandFailure(CommandStatus.RESOURCE_BUSY, Syndrome.IN_USE);
    }
    capabilities.reset();
    firmware.state(State.DISABLED);
  }

  private void queryIssi(CommandCall call) {
    call.put(CURRENT_ISSI, issi);
    call.put(SUPPORTED_ISSI, 1 << ISSI);
  }

  private void setIssi(CommandCall call) throws CommandFailure {
    if (call.get(WANTED_ISSI) != ISSI) {
      throw new CommandFailure(CommandStatus.BAD_PARAMETER, Syndrome.BAD_ISSI);
    }
    issi = ISSI;
  }

  private void queryCapabilities(CommandCall call) throws CommandFailure {
    MemorySegment page = capabilities.page(call.modifier() >> 1, (call.modifier() & 1) != 0);
    MemorySegment.copy(page, 0, call.output(), READ_CAPABILITY.offset(), Capabilities.PAGE);
  }

  private void setCapabilities(CommandCall call) throws CommandFailure {
    if (firmware.state() == State.INITIALIZED) {
      throw new CommandFailure(CommandStatus.BAD_SYSTEM_STATE, Syndrome.CAP_AFTER_INIT);
    }
    capabilities.set(call.modifier() >> 1, call.input(), WRITTEN_CAPABILITY.offset());
  }

  private void initialize(CommandCall call) throws CommandFailure {
    if (firmware.state() == State.INITIALIZED) {
      throw new CommandFailure(CommandStatus.BAD_SYSTEM_STATE, Syndrome.INITIALIZED_ALREADY);
    }
    if (wanted(INIT) > 0) {
      throw new CommandFailure(CommandStatus.BAD_SYSTEM_STATE, Syndrome.PAGES_MISSING);
    }
    firmware.state(State.INITIALIZED);
  }

  private void tearDown(CommandCall call) throws CommandFailure {
    int profile = call.get(PROFILE);
    if (profile < GRACEFUL || profile > PREPARE_FAST) {
      throw new CommandFailure(CommandStatus.BAD_PARAMETER, Syndrome.UNKNOWN_MODIFIER);
    }
    objects.clear();
    firmware.state(State.ENABLED);
  }

  private void queryAdapter(CommandCall call) {
    long at = ADAPTER.offset();
    MemorySegment output = call.output();
    for (int i = 0; i < 3; i++) {
      output.set(ValueLayout.JAVA_BYTE, at + ADAPTER_OUI + 1 + i, (byte) (MELLANOX_OUI >> (16 - 8 * i)));
    }
    byte[] board = VendorSyndromes.BOARD_ID.getBytes(StandardCharsets.US_ASCII);
    MemorySegment.copy(MemorySegment.ofArray(board), 0, output, at + ADAPTER_BOARD, board.length);
  }
}
