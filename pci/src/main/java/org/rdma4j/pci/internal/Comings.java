package org.rdma4j.pci.internal;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.osgi.framework.BundleContext;
import org.osgi.framework.Constants;
import org.osgi.framework.InvalidSyntaxException;
import org.osgi.framework.ServiceEvent;
import org.osgi.framework.ServiceListener;
import org.osgi.framework.ServiceReference;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The services of a type as they come and go. Coming and going of one service come one after the other: who unregisters
 * it while another thread is still taking it in waits for both, where a service tracker would let him go on before.
 */
final class Comings<S> implements ServiceListener, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Comings.class);

  /** One service: its monitor is held while it is taken in or let go. */
  private static final class One<S> {
    private S service;
    private volatile boolean gone; // changes under the monitor
  }

  private final BundleContext bundle;
  private final Class<S> type;
  private final BiConsumer<S, ServiceReference<S>> added;
  private final Consumer<S> removed;
  private final Map<ServiceReference<S>, One<S>> known = new ConcurrentHashMap<>();
  private volatile boolean closed;

  Comings(BundleContext bundle, Class<S> type, BiConsumer<S, ServiceReference<S>> added, Consumer<S> removed) {
    this.bundle = bundle;
    this.type = type;
    this.added = added;
    this.removed = removed;
  }

  void open() {
    try {
      bundle.addServiceListener(this, "(" + Constants.OBJECTCLASS + "=" + type.getName() + ")");
      bundle.getServiceReferences(type, null).stream().sorted().toList().reversed().forEach(this::add);
    } catch (InvalidSyntaxException e) {
      throw new IllegalStateException(e); // The filter is right.
    }
  }

  @Override
  @SuppressWarnings("unchecked")
  public void serviceChanged(ServiceEvent event) {
    ServiceReference<S> reference = (ServiceReference<S>) event.getServiceReference();
    switch (event.getType()) {
      case ServiceEvent.REGISTERED -> add(reference);
      case ServiceEvent.UNREGISTERING -> remove(reference);
      default -> LOG.trace("{} of {}", event.getType(), reference);
    }
  }

  private void add(ServiceReference<S> reference) {
    One<S> one = known.computeIfAbsent(reference, key -> new One<>());
    synchronized (one) {
      if (one.gone || one.service != null || closed) {
        return;
      }
      one.service = bundle.getService(reference);
      if (one.service != null) {
        try {
          added.accept(one.service, reference);
        } catch (RuntimeException | LinkageError e) {
          LOG.error("{} could not be taken in", reference, e);
        }
      }
    }
  }

  /** One that goes stays as gone, for a thread that is about to find it, until it is unregistered. */
  private void remove(ServiceReference<S> reference) {
    One<S> one = known.computeIfAbsent(reference, key -> new One<>());
    synchronized (one) {
      one.gone = true;
      if (one.service != null) {
        try {
          removed.accept(one.service);
        } catch (RuntimeException | LinkageError e) {
          LOG.error("{} could not be let go in order", reference, e);
        }
        one.service = null;
        bundle.ungetService(reference);
      }
    }
    known.entrySet().removeIf(each -> each.getValue().gone && each.getKey().getBundle() == null);
  }

  /** Lets all services go, the last first. Until the end who unregisters a service waits for its removal. */
  @Override
  public void close() {
    closed = true;
    known.keySet().stream().sorted().forEach(this::remove);
    bundle.removeServiceListener(this);
  }
}
