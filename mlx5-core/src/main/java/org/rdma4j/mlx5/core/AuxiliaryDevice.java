package org.rdma4j.mlx5.core;

import org.osgi.annotation.versioning.ProviderType;

/**
 * A part of a card that has a driver of its own ({@code struct auxiliary_device}), published as a service. Its driver
 * takes it over when the service comes, and must have given back everything when the unregistration returns.
 */
@ProviderType
public interface AuxiliaryDevice {
  /** Service property: {@link #name}. */
  String NAME = "mlx5.auxiliary.name";

  /** Service property: what it is for, as {@link #RDMA}. */
  String KIND = "mlx5.auxiliary.kind";

  /** Service property: address of the PCI function. */
  String PCI_ADDRESS = "pci.address";

  /** Kind: RDMA, the device of {@code mlx5_ib}. */
  String RDMA = "rdma";

  /** {@return its name, as {@code mlx5_core.rdma.0}} */
  String name();

  /** {@return the card} */
  Mlx5Device device();
}
