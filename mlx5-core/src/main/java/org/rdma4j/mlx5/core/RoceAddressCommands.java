package org.rdma4j.mlx5.core;

import java.lang.foreign.MemorySegment;
import org.rdma4j.mlx5.ifc.Opcode;

/** The table of addresses that packets are sent from and accepted for (kernel: {@code lib/gid.c}). */
public final class RoceAddressCommands {
  /** Version of RDMA over Ethernet without IP. */
  public static final int ROCE_V1 = 0;

  /** Version of RDMA over Ethernet with IP and UDP. */
  public static final int ROCE_V2 = 2;

  private static final int MAC_BYTES = 6;
  private static final int SOURCE_MAC = 0x12;
  private static final long NO_VLAN = -1;

  private RoceAddressCommands() {}

  /**
   * Sets an entry.
   *
   * @param channel the card
   * @param index which one
   * @param version {@link #ROCE_V1} or {@link #ROCE_V2}
   * @param ipv6 whether the address is an IPv6 address; IPv4 addresses are given in their mapped form
   * @param gid 16 bytes
   * @param mac 6 bytes
   * @param vlan 0 to 4094, or -1 for none
   * @throws CommandException when the card refuses
   */
  public static void set(
      CommandChannel channel, int index, int version, boolean ipv6, MemorySegment gid, MemorySegment mac, int vlan) {
    CommandRequest request = CommandRequest.of(Opcode.SET_ROCE_ADDRESS).set("roce_address_index", index);
    Structure entry = request.structure("roce_address");
    MemorySegment.copy(gid, 0, entry.memory(), entry.base(), 16);
    MemorySegment.copy(mac, 0, entry.memory(), entry.base() + SOURCE_MAC, MAC_BYTES);
    if (vlan != NO_VLAN) {
      entry.set("vlan_valid", 1).set("vlan_id", vlan);
    }
    entry.set("roce_version", version).set("roce_l3_type", ipv6 ? 1 : 0);
    channel.execute(request);
  }

  /**
   * Empties an entry.
   *
   * @param channel the card
   * @param index which one
   * @param version what its version was
   * @throws CommandException when the card refuses
   */
  public static void clear(CommandChannel channel, int index, int version) {
    CommandRequest request = CommandRequest.of(Opcode.SET_ROCE_ADDRESS).set("roce_address_index", index);
    request.structure("roce_address").set("roce_version", version);
    channel.execute(request);
  }
}
