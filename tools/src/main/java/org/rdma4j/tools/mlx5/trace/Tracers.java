package org.rdma4j.tools.mlx5.trace;

import java.util.List;
import org.osgi.framework.BundleContext;
import org.osgi.framework.ServiceRegistration;
import org.rdma4j.ib.core.verbs.VerbsTracer;
import org.rdma4j.mlx5.core.CommandTracer;
import org.rdma4j.mlx5.device.PacketTracer;
import org.rdma4j.pci.PciTracer;

/** Lets a recording see what all rooms show, from its making until it is closed. */
public final class Tracers implements AutoCloseable {
  private final List<ServiceRegistration<?>> services;

  /**
   * Begins.
   *
   * @param bundle whose services the tracers are
   * @param recording what is to see
   */
  public Tracers(BundleContext bundle, Recording recording) {
    services =
        List.of(
            bundle.registerService(VerbsTracer.class, recording, null),
            bundle.registerService(CommandTracer.class, recording, null),
            bundle.registerService(PciTracer.class, recording, null),
            bundle.registerService(PacketTracer.class, recording, null));
  }

  @Override
  public void close() {
    services.reversed().forEach(ServiceRegistration::unregister);
  }
}
