package org.rdma4j.mlx5.core.internal;

import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.rdma4j.mlx5.core.AuxiliaryDevice;
import org.rdma4j.mlx5.core.Mlx5Device;
import org.rdma4j.pci.PciDriver;

/** The PCI driver without a container. In its package, because it exports nothing that makes one. */
public final class StandaloneDriver {
  private static final long GRACE_MILLIS = TimeUnit.HOURS.toMillis(1);

  private StandaloneDriver() {}

  /**
   * Makes a driver.
   *
   * @param user gets each card that is up, and returns what takes the card from it again
   * @return the driver, for a bus
   */
  public static PciDriver make(Function<Mlx5Device, Runnable> user) {
    AuxiliaryPublisher publisher =
        new AuxiliaryPublisher() {
          @Override
          public Runnable publish(AuxiliaryDevice device) {
            return user.apply(device.device());
          }

          @Override
          public Runnable publish(Mlx5Device device) {
            return () -> {};
          }
        };
    return new CoreDriver(publisher, new CoreSettings(Map.of(), GRACE_MILLIS, Map.of()));
  }
}
