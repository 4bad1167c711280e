package org.rdma4j.roce.link;

/** Takes the packets that {@link Link#receive} delivers, on the thread that called it. */
@FunctionalInterface
public interface PacketHandler {
  /**
   * Handles one packet whose ICRC was accepted.
   *
   * @param packet the packet; it and the memory it points to are valid only during this call, because the link uses
   *     both again
   */
  void onPacket(ReceivedPacket packet);
}
