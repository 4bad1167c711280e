package org.rdma4j.mlx5.core;

import java.lang.foreign.MemorySegment;
import org.rdma4j.mlx5.ifc.Opcode;

/** Objects that are a number only: domains, counters, multicast membership ({@code ib/cmd.c}). */
public final class ObjectCommands {
  private ObjectCommands() {}

  /**
   * Allocates a protection domain.
   *
   * @param channel the card
   * @return its number, 24 bits
   * @throws CommandException when the card refuses
   */
  public static int allocatePd(CommandChannel channel) {
    return channel.execute(CommandRequest.of(Opcode.ALLOC_PD)).get("pd");
  }

  /**
   * Frees a protection domain.
   *
   * @param channel the card
   * @param pd its number
   * @throws CommandException when the card refuses
   */
  public static void freePd(CommandChannel channel, int pd) {
    channel.execute(CommandRequest.of(Opcode.DEALLOC_PD).set("pd", pd));
  }

  /**
   * Allocates an XRC domain.
   *
   * @param channel the card
   * @return its number, 24 bits
   * @throws CommandException when the card refuses
   */
  public static int allocateXrcd(CommandChannel channel) {
    return channel.execute(CommandRequest.of(Opcode.ALLOC_XRCD)).get("xrcd");
  }

  /**
   * Frees an XRC domain.
   *
   * @param channel the card
   * @param xrcd its number
   * @throws CommandException when the card refuses
   */
  public static void freeXrcd(CommandChannel channel, int xrcd) {
    channel.execute(CommandRequest.of(Opcode.DEALLOC_XRCD).set("xrcd", xrcd));
  }

  /**
   * Allocates a transport domain.
   *
   * @param channel the card
   * @return its number, 24 bits
   * @throws CommandException when the card refuses
   */
  public static int allocateTransportDomain(CommandChannel channel) {
    return channel.execute(CommandRequest.of(Opcode.ALLOC_TRANSPORT_DOMAIN)).get("transport_domain");
  }

  /**
   * Frees a transport domain.
   *
   * @param channel the card
   * @param domain its number
   * @throws CommandException when the card refuses
   */
  public static void freeTransportDomain(CommandChannel channel, int domain) {
    channel.execute(CommandRequest.of(Opcode.DEALLOC_TRANSPORT_DOMAIN).set("transport_domain", domain));
  }

  /**
   * Lets a queue pair receive what goes to a multicast group.
   *
   * @param channel the card
   * @param qpn number of the queue pair
   * @param group 16 bytes
   * @throws CommandException when the card refuses
   */
  public static void attachMulticast(CommandChannel channel, int qpn, MemorySegment group) {
    channel.execute(multicast(Opcode.ATTACH_TO_MCG, qpn, group));
  }

  /**
   * Ends that.
   *
   * @param channel the card
   * @param qpn number of the queue pair
   * @param group 16 bytes
   * @throws CommandException when the card refuses
   */
  public static void detachMulticast(CommandChannel channel, int qpn, MemorySegment group) {
    channel.execute(multicast(Opcode.DETACH_FROM_MCG, qpn, group));
  }

  private static CommandRequest multicast(Opcode opcode, int qpn, MemorySegment group) {
    CommandRequest request = CommandRequest.of(opcode).set("qpn", qpn);
    request.bytes("multicast_gid").copyFrom(group.asSlice(0, 16));
    return request;
  }
}
