package org.rdma4j.pci.internal;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.osgi.framework.BundleContext;
import org.osgi.framework.Constants;
import org.osgi.framework.InvalidSyntaxException;
import org.osgi.framework.ServiceEvent;
import org.osgi.framework.ServiceListener;
import org.osgi.framework.ServiceReference;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Follows the services of a type. Unlike a service tracker it never lets an unregistration return before the removal is
 * over, even when the service is still being added on another thread: the two are then told at the same time and settle
 * it between them. No call is made under the lock.
 */
final class Whiteboard<S> implements ServiceListener {
  private static final Logger LOG = LoggerFactory.getLogger(Whiteboard.class);

  /** Services that went before they were seen to come are remembered, the last so many. */
  private static final int REMEMBERED = 256;

  /** What is done with a service. */
  interface Handler<S> {
    /** A service is there. */
    void added(S service, ServiceReference<S> reference);

    /** A service goes, perhaps before it was added; returns when it is out of use, also for a second caller. */
    void removed(S service, ServiceReference<S> reference);
  }

  private final BundleContext bundle;
  private final Class<S> type;
  private final Handler<S> handler;
  private final Map<ServiceReference<S>, CompletableFuture<S>> known = new LinkedHashMap<>(); // guarded by itself
  private boolean closed; // guarded by known
  private final Map<ServiceReference<S>, Boolean> goneBefore = // guarded by known
      new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<ServiceReference<S>, Boolean> eldest) {
          return size() > REMEMBERED;
        }
      };

  Whiteboard(BundleContext bundle, Class<S> type, Handler<S> handler) {
    this.bundle = bundle;
    this.type = type;
    this.handler = handler;
  }

  void open() {
    try {
      bundle.addServiceListener(this, "(" + Constants.OBJECTCLASS + "=" + type.getName() + ")");
      bundle.getServiceReferences(type, null).stream()
          .sorted((a, b) -> Long.compare(id(a), id(b)))
          .forEach(this::add);
    } catch (InvalidSyntaxException e) {
      throw new IllegalStateException(e);
    }
  }

  /**
   * Lets all services go, the last first. Until the end who unregisters a service waits for its removal.
   *
   * @param tell whether the handler is told
   */
  void close(boolean tell) {
    List<ServiceReference<S>> left;
    synchronized (known) {
      closed = true;
      left = new ArrayList<>(known.keySet());
    }
    left.sort((a, b) -> Long.compare(id(b), id(a)));
    for (ServiceReference<S> each : left) {
      if (tell) {
        remove(each);
      } else {
        bundle.ungetService(each);
      }
    }
    bundle.removeServiceListener(this);
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
    CompletableFuture<S> service = new CompletableFuture<>();
    synchronized (known) {
      if (closed || goneBefore.remove(reference) != null || known.containsKey(reference)) {
        return;
      }
      known.put(reference, service);
    }
    S found = null;
    try {
      found = bundle.getService(reference);
    } finally {
      service.complete(found);
    }
    if (found != null) {
      try {
        handler.added(found, reference);
      } catch (RuntimeException | LinkageError e) {
        LOG.error("{} could not be taken in", reference, e);
      }
    }
  }

  private void remove(ServiceReference<S> reference) {
    CompletableFuture<S> service;
    synchronized (known) {
      service = known.get(reference);
      if (service == null) {
        goneBefore.put(reference, true);
        return;
      }
    }
    S found = service.join();
    if (found != null) {
      try {
        handler.removed(found, reference);
      } catch (RuntimeException | LinkageError e) {
        LOG.error("{} could not be let go in order", reference, e);
      }
    }
    // Kept until now, so that a second one who removes the same service waits in the handler as the first does.
    boolean last;
    synchronized (known) {
      last = known.remove(reference, service);
    }
    if (last && found != null) {
      bundle.ungetService(reference);
    }
  }

  static long id(ServiceReference<?> reference) {
    return (long) reference.getProperty(Constants.SERVICE_ID);
  }

  static int ranking(ServiceReference<?> reference) {
    return reference.getProperty(Constants.SERVICE_RANKING) instanceof Integer ranking ? ranking : 0;
  }

  static String bundleName(ServiceReference<?> reference) {
    return reference.getBundle() == null ? "?" : reference.getBundle().getSymbolicName();
  }
}
