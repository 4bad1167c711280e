package org.rdma4j.mlx5.core;

import org.osgi.annotation.versioning.ProviderType;

/** What the card can do, as it said when it came up. Safe for any thread. */
@ProviderType
public interface Capabilities {
  /**
   * Reads a current value ({@code MLX5_CAP_*}).
   *
   * @param type the page
   * @param field name of the field
   * @return the value; 0 when the card has no such page
   * @throws IllegalArgumentException when the page has no such field
   */
  int get(CapabilityType type, String field);

  /**
   * Reads the largest value ({@code MLX5_CAP_*_MAX}).
   *
   * @param type the page
   * @param field name of the field
   * @return the value; 0 when the card has no such page
   * @throws IllegalArgumentException when the page has no such field
   */
  int maximum(CapabilityType type, String field);

  /**
   * Reads a current value of the general page ({@code MLX5_CAP_GEN}).
   *
   * @param field name of the field
   * @return the value
   * @throws IllegalArgumentException when the page has no such field
   */
  default int general(String field) {
    return get(CapabilityType.GENERAL, field);
  }

  /**
   * Tells whether a flag of the general page is set.
   *
   * @param field name of the field
   * @return whether it is not 0
   * @throws IllegalArgumentException when the page has no such field
   */
  default boolean has(String field) {
    return general(field) != 0;
  }
}
