package org.rdma4j.tools.mlx5.trace;

import java.util.Locale;

/** The boundaries at which something is seen, from the application down to the wire. */
public enum Layer {
  /** A verb of {@code ib-core}, carried out by {@code mlx5-ib}. */
  VERB,
  /** A work queue entry that the provider has written. */
  WQE,
  /** A completion queue entry that the provider has taken. */
  CQE,
  /** A command of {@code mlx5-core}. */
  COMMAND,
  /** A write to configuration space. */
  CONFIG,
  /** A register or doorbell of the card. */
  REGISTER,
  /** An access of the card to memory of the host. */
  DMA,
  /** A message of the card. */
  INTERRUPT,
  /** A packet that passes the cable. */
  PACKET;

  /** {@return the word for it} */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * Finds a layer.
   *
   * @param word its word
   * @return the layer, or null
   */
  public static Layer of(String word) {
    for (Layer each : values()) {
      if (each.word().equals(word)) {
        return each;
      }
    }
    return null;
  }
}
