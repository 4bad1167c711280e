package org.rdma4j.mlx5.device;

import java.lang.foreign.MemorySegment;
import org.osgi.annotation.versioning.ConsumerType;

/**
 * Sees every packet of every modelled card, as a service of whoever wants to look; the first one counts. Without one it
 * costs nothing but the look at a field. Called by whoever drives the card's engine; must not block.
 */
@ConsumerType
@FunctionalInterface
public interface PacketTracer {
  /**
   * A packet is handed to the network, or has come from it. The memory is only to be looked at during the call.
   *
   * @param card name of the card, its slot where it was given one
   * @param sent whether it is sent
   * @param memory where the packet is
   * @param offset of its BTH
   * @param length bytes from the BTH to the end of the pad
   */
  void packet(String card, boolean sent, MemorySegment memory, long offset, int length);
}
