package org.rdma4j.mlx5.device.internal;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.function.LongSupplier;
import org.rdma4j.mlx5.ifc.Command;
import org.rdma4j.mlx5.ifc.CommandStatus;
import org.rdma4j.mlx5.ifc.Field;
import org.rdma4j.mlx5.ifc.Layout;
import org.rdma4j.mlx5.ifc.Layouts;
import org.rdma4j.mlx5.ifc.Opcode;
import org.rdma4j.roce.address.Guid;

/** The function's own vport: its GUIDs, its MAC address, whether RoCE is on; and the P_Keys. Engine thread. */
final class VportCommands {
  private static final Field OTHER_QUERIED = Command.in(Opcode.QUERY_NIC_VPORT_CONTEXT, "other_vport");
  private static final Field LIST_TYPE = Command.in(Opcode.QUERY_NIC_VPORT_CONTEXT, "allowed_list_type");
  private static final Field FOUND = Command.out(Opcode.QUERY_NIC_VPORT_CONTEXT, "nic_vport_context");
  private static final Field OTHER_MODIFIED = Command.in(Opcode.MODIFY_NIC_VPORT_CONTEXT, "other_vport");
  private static final Field SELECT = Command.in(Opcode.MODIFY_NIC_VPORT_CONTEXT, "field_select");
  private static final Field WANTED = Command.in(Opcode.MODIFY_NIC_VPORT_CONTEXT, "nic_vport_context");
  private static final Field OTHER_STATE = Command.in(Opcode.QUERY_VPORT_STATE, "other_vport");
  private static final Field ADMIN_STATE = Command.out(Opcode.QUERY_VPORT_STATE, "admin_state");
  private static final Field STATE = Command.out(Opcode.QUERY_VPORT_STATE, "state");
  private static final Field OTHER_PKEY = Command.in(Opcode.QUERY_HCA_VPORT_PKEY, "other_vport");
  private static final Field PKEY_INDEX = Command.in(Opcode.QUERY_HCA_VPORT_PKEY, "pkey_index");
  private static final Field PKEYS = Command.out(Opcode.QUERY_HCA_VPORT_PKEY, "pkey");
  private static final Layout CONTEXT = Layouts.NIC_VPORT_CONTEXT;
  private static final Field ROCE = CONTEXT.field("roce_en");
  private static final Layout SELECTION = Layouts.of("modify_nic_vport_field_select");
  private static final ValueLayout.OfInt DWORD = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final int BYTES = (int) CONTEXT.size();
  private static final int ALL_PKEYS = 0xffff;
  private static final int AUTO = 2;
  private static final int DEFAULT_PKEY = 0xffff;

  private final Port port;
  private final MemorySegment context = Arena.ofAuto().allocate(BYTES, Long.BYTES);
  private final LongSupplier badQkeys;

  VportCommands(Firmware firmware, Port port, LongSupplier badQkeys) {
    this.port = port;
    this.badQkeys = badQkeys;
    long guid = Guid.ofMac(port.settings().mac()).value();
    long mac = port.settings().mac().value();
    CONTEXT.field("node_guid").setLong(context, 0, guid);
    CONTEXT.field("port_guid").setLong(context, 0, guid);
    CONTEXT.field("system_image_guid").setLong(context, 0, guid);
    CONTEXT.field("mtu").set(context, 0, Math.min(0xffff, port.settings().mtu()));
    CONTEXT.field("permanent_address.mac_addr_47_32").set(context, 0, (int) (mac >>> Integer.SIZE));
    CONTEXT.field("permanent_address.mac_addr_31_0").set(context, 0, (int) mac);
    firmware.add(Opcode.QUERY_NIC_VPORT_CONTEXT, Firmware.State.ENABLED, this::query);
    firmware.add(Opcode.MODIFY_NIC_VPORT_CONTEXT, Firmware.State.INITIALIZED, this::modify);
    firmware.add(Opcode.QUERY_VPORT_STATE, Firmware.State.INITIALIZED, this::state);
    firmware.add(Opcode.QUERY_HCA_VPORT_PKEY, Firmware.State.INITIALIZED, this::pkeys);
  }

  /** After INIT_HCA RoCE is off until the driver wants it. */
  void clear() {
    ROCE.set(context, 0, 0);
  }

  boolean isRoceOn() {
    return ROCE.isSet(context, 0);
  }

  private static void own(CommandCall call, Field other) throws CommandFailure {
    if (call.get(other) != 0) {
      throw new CommandFailure(CommandStatus.BAD_PARAMETER, Syndrome.OTHER_FUNCTION);
    }
  }

  private void query(CommandCall call) throws CommandFailure {
    own(call, OTHER_QUERIED);
    CONTEXT.field("qkey_violation_counter").set(context, 0, (int) Math.min(0xffff, badQkeys.getAsLong()));
    MemorySegment.copy(context, 0, call.output(), FOUND.offset(), BYTES);
    // The lists of MAC addresses and VLANs are empty.
    CONTEXT.field("allowed_list_type").set(call.output(), FOUND.offset(), call.get(LIST_TYPE));
  }

  private void modify(CommandCall call) throws CommandFailure {
    own(call, OTHER_MODIFIED);
    MemorySegment input = call.input();
    int selected = input.get(DWORD, SELECT.offset());
    int roce = bit("roce_en");
    int known = roce | bit("node_guid") | bit("port_guid") | bit("mtu");
    if ((selected & ~known) != 0) {
      throw new CommandFailure(CommandStatus.BAD_PARAMETER, Syndrome.NOT_MODELLED);
    }
    long at = WANTED.offset();
    if ((selected & roce) != 0) {
      ROCE.set(context, 0, ROCE.get(input, at));
    }
    if ((selected & bit("node_guid")) != 0) {
      CONTEXT.field("node_guid").setLong(context, 0, CONTEXT.field("node_guid").getLong(input, at));
    }
    if ((selected & bit("port_guid")) != 0) {
      CONTEXT.field("port_guid").setLong(context, 0, CONTEXT.field("port_guid").getLong(input, at));
    }
    if ((selected & bit("mtu")) != 0) {
      CONTEXT.field("mtu").set(context, 0, CONTEXT.field("mtu").get(input, at));
    }
  }

  private static int bit(String selected) {
    MemorySegment word = MemorySegment.ofArray(new byte[Integer.BYTES]);
    SELECTION.field(selected).set(word, 0, 1);
    return word.get(DWORD, 0);
  }

  private void state(CommandCall call) throws CommandFailure {
    own(call, OTHER_STATE);
    if (call.modifier() > AUTO) {
      throw new CommandFailure(CommandStatus.BAD_PARAMETER, Syndrome.UNKNOWN_MODIFIER);
    }
    call.put(ADMIN_STATE, AUTO);
    call.put(STATE, port.isUp() ? 1 : 0);
  }

  private void pkeys(CommandCall call) throws CommandFailure {
    own(call, OTHER_PKEY);
    int index = call.get(PKEY_INDEX);
    if (index != ALL_PKEYS && index >= Limits.PKEYS) {
      throw new CommandFailure(CommandStatus.BAD_INDEX, Syndrome.BAD_PKEY_INDEX);
    }
    int count = index == ALL_PKEYS ? Limits.PKEYS : 1;
    MemorySegment output = call.output();
    if (output.byteSize() < PKEYS.offset() + (long) count * Integer.BYTES) {
      throw new CommandFailure(CommandStatus.BAD_OUTPUT_LENGTH, Syndrome.OUTPUT_TOO_SHORT);
    }
    if (index == 0 || index == ALL_PKEYS) {
      output.set(DWORD, PKEYS.offset(), DEFAULT_PKEY);
    }
  }
}
