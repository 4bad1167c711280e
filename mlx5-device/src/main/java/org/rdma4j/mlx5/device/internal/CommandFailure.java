package org.rdma4j.mlx5.device.internal;

import org.rdma4j.mlx5.ifc.CommandStatus;

/** A command that is answered with a status other than OK. */
final class CommandFailure extends Exception {
  private static final long serialVersionUID = 1;

  private final CommandStatus status;
  private final Syndrome syndrome;

  CommandFailure(CommandStatus status, Syndrome syndrome) {
    super(status.text() + ": " + syndrome.text(), null, false, false);
    this.status = status;
    this.syndrome = syndrome;
  }

  CommandStatus status() {
    return status;
  }

  Syndrome syndrome() {
    return syndrome;
  }
}
