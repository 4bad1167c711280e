package org.rdma4j.mlx5.core;

import org.rdma4j.mlx5.ifc.Layouts;
import org.rdma4j.mlx5.ifc.Opcode;

/** Memory keys ({@code mr.c}): a key is the card's index and eight bits of the driver. */
public final class MemoryKeyCommands {
  private static final int VARIANT_BITS = 8;

  private MemoryKeyCommands() {}

  /**
   * Creates a key.
   *
   * @param device the card
   * @param request CREATE_MKEY with context and translations; the low byte is filled in
   * @return the key, 32 bits
   * @throws CommandException when the card refuses
   */
  public static int create(Mlx5Device device, CommandRequest request) {
    int variant = device.nextKeyVariant();
    request.structure("memory_key_mkey_entry").set("mkey_7_0", variant);
    return device.execute(request).get("mkey_index") << VARIANT_BITS | variant;
  }

  /**
   * Destroys a key.
   *
   * @param channel the card
   * @param key the key
   * @throws CommandException when the card refuses
   */
  public static void destroy(CommandChannel channel, int key) {
    channel.execute(CommandRequest.of(Opcode.DESTROY_MKEY).set("mkey_index", key >>> VARIANT_BITS));
  }

  /**
   * Reads the context of a key.
   *
   * @param channel the card
   * @param key the key
   * @return the context
   * @throws CommandException when the card refuses
   */
  public static Structure query(CommandChannel channel, int key) {
    CommandReply reply =
        channel.execute(CommandRequest.of(Opcode.QUERY_MKEY).set("mkey_index", key >>> VARIANT_BITS));
    return new Structure(Layouts.MKC, reply.bytes("memory_key_mkey_entry"), 0);
  }
}
