package org.rdma4j.mlx5.core;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import org.rdma4j.mlx5.ifc.Layouts;

/** Registers of a port ({@code port.c}). */
public final class PortCommands {
  private static final int PMTU = 0x5003;
  private static final int PTYS = 0x5004;
  private static final int PAOS = 0x5006;
  private static final int PPCNT = 0x5008;
  private static final int NODE_DESC = 0x6001;
  private static final int ETHERNET = 1 << 2;
  private static final int NODE_DESC_BYTES = 64;
  private static final int COUNTERS_BYTES = 256;
  private static final int COUNTERS_AT = 8;
  private static final int UP = 1;
  private static final int DOWN = 2;

  private PortCommands() {}

  /**
   * Reads speed and link modes, register PTYS.
   *
   * @param channel the card
   * @param port from 1
   * @return the register
   * @throws CommandException when the card refuses
   */
  public static Structure linkModes(CommandChannel channel, int port) {
    Structure image = RegisterCommands.image(Layouts.of("ptys")).set("local_port", port).set("proto_mask", ETHERNET);
    return read(channel, PTYS, image);
  }

  /**
   * Reads the largest, the wanted and the present MTU, register PMTU.
   *
   * @param channel the card
   * @param port from 1
   * @return the register
   * @throws CommandException when the card refuses
   */
  public static Structure mtu(CommandChannel channel, int port) {
    return read(channel, PMTU, RegisterCommands.image(Layouts.of("pmtu")).set("local_port", port));
  }

  /**
   * Sets the wanted MTU.
   *
   * @param channel the card
   * @param port from 1
   * @param bytes of an Ethernet frame without header
   * @throws CommandException when the card refuses
   */
  public static void mtu(CommandChannel channel, int port, int bytes) {
    Structure image = RegisterCommands.image(Layouts.of("pmtu")).set("local_port", port).set("admin_mtu", bytes);
    RegisterCommands.write(channel, PMTU, image.memory());
  }

  /**
   * Tells whether the link is up, register PAOS.
   *
   * @param channel the card
   * @param port from 1
   * @return whether it is
   * @throws CommandException when the card refuses
   */
  public static boolean isUp(CommandChannel channel, int port) {
    Structure image = RegisterCommands.image(Layouts.of("paos")).set("local_port", port);
    return read(channel, PAOS, image).get("oper_status") == UP;
  }

  /**
   * Switches a port on or off.
   *
   * @param channel the card
   * @param port from 1
   * @param up whether it is to be on
   * @throws CommandException when the card refuses
   */
  public static void setUp(CommandChannel channel, int port, boolean up) {
    Structure image =
        RegisterCommands.image(Layouts.of("paos"))
            .set("local_port", port)
            .set("admin_status", up ? UP : DOWN)
            .set("ase", 1);
    RegisterCommands.write(channel, PAOS, image.memory());
  }

  /**
   * Reads what the node calls itself, register NODE_DESC.
   *
   * @param channel the card
   * @return up to 64 characters
   * @throws CommandException when the card refuses
   */
  public static String nodeDescription(CommandChannel channel) {
    MemorySegment image = Arena.ofAuto().allocate(NODE_DESC_BYTES, Long.BYTES);
    byte[] text = RegisterCommands.read(channel, NODE_DESC, image).toArray(ValueLayout.JAVA_BYTE);
    int length = 0;
    while (length < text.length && text[length] != 0) {
      length++;
    }
    return new String(text, 0, length, StandardCharsets.UTF_8);
  }

  /**
   * Reads a group of counters, register PPCNT.
   *
   * @param channel the card
   * @param port from 1
   * @param group which ones: 0x20 are those of InfiniBand's PortCounters
   * @return 248 bytes
   * @throws CommandException when the card refuses
   */
  public static MemorySegment counters(CommandChannel channel, int port, int group) {
    MemorySegment image = Arena.ofAuto().allocate(COUNTERS_BYTES, Long.BYTES);
    image.set(ValueLayout.JAVA_BYTE, 1, (byte) port);
    image.set(ValueLayout.JAVA_BYTE, 3, (byte) group);
    return RegisterCommands.read(channel, PPCNT, image).asSlice(COUNTERS_AT);
  }

  private static Structure read(CommandChannel channel, int id, Structure image) {
    return new Structure(image.layout(), RegisterCommands.read(channel, id, image.memory()), 0);
  }
}
