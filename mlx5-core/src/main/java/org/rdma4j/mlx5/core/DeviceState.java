package org.rdma4j.mlx5.core;

/** How the card is ({@code enum mlx5_device_state}). */
public enum DeviceState {
  /** Not up yet, or not any more. */
  UNINITIALIZED,
  /** All is well. */
  UP,
  /** The card is in a fatal error, or gone: nothing that needs it succeeds. */
  INTERNAL_ERROR
}
