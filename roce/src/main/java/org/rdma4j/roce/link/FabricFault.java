package org.rdma4j.roce.link;

/** What a {@link Fabric} does to a packet. */
public enum FabricFault {
  /** Dropped, since the way is cut or in an outage. */
  CUT,
  /** Lost by chance. */
  LOSS,
  /** Sent on twice. */
  DUPLICATION,
  /** One to three bits flipped. */
  CORRUPTION,
  /** Held back, so that later ones overtake it. */
  REORDERING
}
