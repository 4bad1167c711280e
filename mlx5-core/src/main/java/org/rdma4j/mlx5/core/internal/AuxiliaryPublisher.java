package org.rdma4j.mlx5.core.internal;

import org.rdma4j.mlx5.core.AuxiliaryDevice;
import org.rdma4j.mlx5.core.Mlx5Device;

/** Offers parts of cards to their drivers. */
interface AuxiliaryPublisher {
  /**
   * Offers one.
   *
   * @return takes the offer back, and returns when its driver has given back everything
   */
  Runnable publish(AuxiliaryDevice device);

  /**
   * Shows a card, whether it is up or not.
   *
   * @return ends that
   */
  Runnable publish(Mlx5Device device);
}
