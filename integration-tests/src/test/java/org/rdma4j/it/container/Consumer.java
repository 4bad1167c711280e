package org.rdma4j.it.container;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.osgi.framework.BundleActivator;
import org.osgi.framework.BundleContext;
import org.osgi.framework.ServiceReference;
import org.osgi.util.tracker.ServiceTracker;
import org.rdma4j.rdma.cm.RdmaCm;

/**
 * A bundle of its own that makes connections to itself as long as there is a connection manager, between the addresses
 * that its manifest names. It tells how many it made, and what was wrong, by a service that needs no class of ours.
 */
public final class Consumer implements BundleActivator {
  /** Header of the manifest: addresses of two devices, with a space between. */
  static final String ADDRESSES = "Rdma-Addresses";

  private ServiceTracker<RdmaCm, Talk> managers;
  private final AtomicLong before = new AtomicLong();

  /** For the framework. */
  public Consumer() {}

  /** Both ends, with one manager. */
  private static final class Talk {
    private final Answerer answerer;
    private final List<Dialler> diallers = new ArrayList<>();

    Talk(RdmaCm manager, String a, String b) {
      answerer = new Answerer(manager);
      diallers.add(new Dialler(() -> manager, a, b, answerer::port));
      diallers.add(new Dialler(() -> manager, b, a, answerer::port));
    }

    long made() {
      return diallers.stream().mapToLong(Dialler::made).sum();
    }

    List<String> problems() {
      List<String> problems = new ArrayList<>(answerer.problems());
      diallers.forEach(each -> problems.addAll(each.problems()));
      return problems;
    }

    void end() {
      try {
        for (Dialler each : diallers) {
          each.close();
        }
        answerer.close();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }

  @Override
  public void start(BundleContext context) {
    String[] addresses = context.getBundle().getHeaders().get(ADDRESSES).split(" ", 2);
    managers =
        new ServiceTracker<>(context, RdmaCm.class, null) {
          @Override
          public Talk addingService(ServiceReference<RdmaCm> reference) {
            return new Talk(context.getService(reference), addresses[0], addresses[1]);
          }

          @Override
          public void removedService(ServiceReference<RdmaCm> reference, Talk talk) {
            talk.end();
            before.addAndGet(talk.made());
            context.ungetService(reference);
          }
        };
    managers.open();
    Supplier<Object> report =
        () -> {
          Talk now = managers.getService();
          if (now != null && !now.problems().isEmpty()) {
            return now.problems().toString();
          }
          return before.get() + (now == null ? 0 : now.made());
        };
    context.registerService(Supplier.class, report, null);
  }

  @Override
  public void stop(BundleContext context) {
    managers.close();
  }
}
