package org.rdma4j.tools.capture;

import java.io.IOException;
import java.util.function.Predicate;
import org.osgi.framework.BundleContext;
import org.osgi.framework.InvalidSyntaxException;
import org.osgi.framework.ServiceReference;
import org.rdma4j.ib.core.client.CaptureSource;
import org.rdma4j.ib.core.verbs.RdmaDevice;
import org.rdma4j.mlx5.device.ModelledCard;
import org.rdma4j.roce.address.Guid;
import org.rdma4j.roce.capture.LinkCapture;

/**
 * Finds who shows the packets of a device: the provider's {@link CaptureSource}; for a device of a modelled card, whose
 * driver knows the card by PCI alone, the card that has the device's GUID. A real card is asked by a flow rule that
 * copies its packets, which the model does not have.
 */
final class PacketSources {
  private record OfProvider(CaptureSource.Capture capture) implements PacketSource.Packets {
    @Override
    public long packets() {
      return capture.packets();
    }

    @Override
    public long bytes() {
      return capture.bytes();
    }

    @Override
    public boolean isActive() {
      return capture.isActive();
    }

    @Override
    public void close() throws IOException {
      capture.close();
    }
  }

  private record OfCard(LinkCapture.Running capture) implements PacketSource.Packets {
    @Override
    public long packets() {
      return capture.packets();
    }

    @Override
    public long bytes() {
      return capture.bytes();
    }

    @Override
    public boolean isActive() {
      return capture.isActive();
    }

    @Override
    public void close() throws IOException {
      capture.close();
    }
  }

  private final BundleContext context;

  PacketSources(BundleContext context) {
    this.context = context;
  }

  /** The source of a device's packets, or null. */
  PacketSource find(String device) {
    CaptureSource source =
        first(CaptureSource.class, CaptureSource.PROPERTY_DEVICE + "=" + escaped(device), any -> true);
    if (source != null) {
      return destination -> new OfProvider(source.start(destination));
    }
    RdmaDevice found = first(RdmaDevice.class, RdmaDevice.PROPERTY_DEVICE + "=" + escaped(device), any -> true);
    if (found == null) {
      return null;
    }
    Guid guid = found.nodeGuid();
    ModelledCard card = first(ModelledCard.class, "objectClass=*", each -> each.nodeGuid().equals(guid));
    return card == null ? null : destination -> new OfCard(card.capture(destination));
  }

  private <T> T first(Class<T> type, String condition, Predicate<T> fits) {
    try {
      for (ServiceReference<T> each : context.getServiceReferences(type, "(" + condition + ")")) {
        T service = context.getService(each);
        if (service != null && fits.test(service)) {
          return service;
        }
      }
      return null;
    } catch (InvalidSyntaxException e) {
      throw new IllegalStateException(e);
    }
  }

  private static String escaped(String value) {
    return value.replaceAll("[\\\\*()]", "\\\\$0");
  }
}
