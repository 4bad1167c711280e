package org.rdma4j.mlx5.core.internal;

import org.rdma4j.mlx5.core.AuxiliaryDevice;
import org.rdma4j.mlx5.core.Mlx5Device;

/** The part of a card that is a device for RDMA. */
record RdmaAuxiliary(String name, Mlx5Device device) implements AuxiliaryDevice {}
