package org.rdma4j.mlx5.device;

/**
 * Why a configuration makes no card: a service for as long as the configuration is there and cannot be carried out, so
 * that whoever waits for the card need not wait for nothing. Safe for any thread.
 */
@FunctionalInterface
public interface CardFailure {
  /** Service property: the PID of the configuration, a {@code String}. */
  String PROPERTY_PID = "mlx5.configuration.pid";

  /** {@return what is wrong and what is allowed} */
  String reason();
}
