/** The RDMA provider of ConnectX cards (kernel: {@code drivers/infiniband/hw/mlx5}), above the driver of the card. */
package org.rdma4j.mlx5.ib;
