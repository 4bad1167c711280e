/**
 * A ConnectX card in the hands of its PCI driver (kernel: {@code drivers/net/ethernet/mellanox/mlx5/core}), as the
 * drivers of its functions use it: commands, memory for the card, doorbells, completion queues and events.
 *
 * <p>A card that is up appears as a service of type {@link org.rdma4j.mlx5.core.AuxiliaryDevice}, from which everything
 * else is reached. When the card goes, the service goes first, and its unregistration lets its user give back what it
 * has while the card still answers, or, when it does not, while commands that only give back succeed without it.
 */
@Export
@Version("1.0.0")
package org.rdma4j.mlx5.core;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
