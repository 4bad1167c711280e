package org.rdma4j.mlx5.core;

import java.util.function.Consumer;
import org.rdma4j.mlx5.ifc.Opcode;

/** The function's port into the network: addresses, identifiers, switches ({@code vport.c}). */
public final class NicVportCommands {
  private NicVportCommands() {}

  /**
   * Reads the context of the function's own vport.
   *
   * @param channel the card
   * @return the context: node_guid, system_image_guid, mtu, permanent_address, qkey_violation_counter, roce_en ...
   * @throws CommandException when the card refuses
   */
  public static Structure query(CommandChannel channel) {
    return channel
        .execute(CommandRequest.of(Opcode.QUERY_NIC_VPORT_CONTEXT))
        .structure("nic_vport_context");
  }

  /**
   * Switches RDMA over Ethernet on or off.
   *
   * @param channel the card
   * @param on whether it is to be on
   * @throws CommandException when the card refuses
   */
  public static void roce(CommandChannel channel, boolean on) {
    modify(channel, "roce_en", context -> context.set("roce_en", on ? 1 : 0));
  }

  /**
   * Changes the context.
   *
   * @param channel the card
   * @param selected name of the field in the field selection
   * @param change fills in the context
   * @throws CommandException when the card refuses
   */
  public static void modify(CommandChannel channel, String selected, Consumer<Structure> change) {
    CommandRequest request = CommandRequest.of(Opcode.MODIFY_NIC_VPORT_CONTEXT);
    request.structure("field_select").set(selected, 1);
    change.accept(request.structure("nic_vport_context"));
    channel.execute(request);
  }

  /**
   * Tells whether the vport is up.
   *
   * @param channel the card
   * @return whether it is
   * @throws CommandException when the card refuses
   */
  public static boolean isUp(CommandChannel channel) {
    return channel.execute(CommandRequest.of(Opcode.QUERY_VPORT_STATE)).get("state") != 0;
  }
}
