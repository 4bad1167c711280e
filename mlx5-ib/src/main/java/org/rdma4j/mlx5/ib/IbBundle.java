package org.rdma4j.mlx5.ib;

import org.osgi.framework.BundleActivator;
import org.osgi.framework.BundleContext;
import org.osgi.framework.Constants;
import org.osgi.framework.InvalidSyntaxException;
import org.osgi.framework.ServiceReference;
import org.osgi.util.tracker.ServiceTracker;
import org.rdma4j.mlx5.core.AuxiliaryDevice;

/**
 * Takes over the RDMA part of every card (kernel: {@code main.c:mlx5r_probe}). An activator and not a component, for
 * the same reason as in {@code rxe}: starts and stops cannot overtake each other.
 */
public final class IbBundle implements BundleActivator {
  private ServiceTracker<AuxiliaryDevice, CardDevice> cards;

  /** For the framework. */
  public IbBundle() {}

  @Override
  public void start(BundleContext bundle) throws InvalidSyntaxException {
    String filter =
        "(&(%s=%s)(%s=%s))"
            .formatted(
                Constants.OBJECTCLASS, AuxiliaryDevice.class.getName(), AuxiliaryDevice.KIND, AuxiliaryDevice.RDMA);
    cards =
        new ServiceTracker<>(bundle, bundle.createFilter(filter), null) {
          @Override
          public CardDevice addingService(ServiceReference<AuxiliaryDevice> reference) {
            AuxiliaryDevice part = context.getService(reference);
            if (part == null) {
              return null;
            }
            CardDevice device = new CardDevice(context, part.device());
            device.start();
            return device;
          }

          @Override
          public void removedService(ServiceReference<AuxiliaryDevice> reference, CardDevice device) {
            device.close();
            context.ungetService(reference);
          }
        };
    cards.open();
  }

  @Override
  public void stop(BundleContext bundle) {
    cards.close();
  }
}
