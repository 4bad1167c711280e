package org.rdma4j.ib.core.internal;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.function.Supplier;
import org.rdma4j.ib.core.verbs.Context;
import org.rdma4j.ib.core.verbs.DeviceControl;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The calls of one device to its clients ({@code add_client_context}, {@code remove_client_context}). Who calls has the
 * turn, so calls never overlap and their order is that of the clients; removal is strictly in reverse. Every call runs
 * under a {@link Watch}, never under a lock. Code that runs inside a call has the turn already: a client that
 * unregisters others, or itself, does not wait for itself.
 */
final class ClientCalls {
  private static final Logger LOG = LoggerFactory.getLogger(ClientCalls.class);

  /** The devices whose turn the current thread has because it runs in one of their calls. */
  private static final ThreadLocal<Set<ClientCalls>> INSIDE = ThreadLocal.withInitial(Set::of);

  /** The client in whose call the current thread is. */
  private static final ThreadLocal<ClientEntry> CLIENT = new ThreadLocal<>();

  private final String device;
  private final DeviceControl control;
  private final Supplier<Settings> settings;
  private final Semaphore turn = new Semaphore(1, true);
  private final Map<ClientEntry, Context> contexts = new HashMap<>(); // guarded by itself
  private final List<ClientEntry> order = new ArrayList<>(); // as added; guarded by contexts
  private volatile boolean open;
  private volatile boolean closed;
  private volatile boolean emptied;
  private volatile Adding adding;

  /** An add that runs, inside another one where a client brings a client. */
  private static final class Adding {
    private final ClientEntry client;
    private final Adding outer;
    private volatile boolean left;

    Adding(ClientEntry client, Adding outer) {
      this.client = client;
      this.outer = outer;
    }
  }

  ClientCalls(String device, DeviceControl control, Supplier<Settings> settings) {
    this.device = device;
    this.control = control;
    this.settings = settings;
  }

  /** True where the current thread runs in a client's call for this device. */
  boolean isInside() {
    return INSIDE.get().contains(this);
  }

  /** Adds all clients in the given order. They are looked up when clients that come by themselves have to wait. */
  void addAll(Supplier<List<ClientEntry>> clients) {
    inTurn(
        () -> {
          open = true;
          clients.get().forEach(this::addOne);
        });
  }

  /** Adds a client that comes later; before {@link #addAll} it does nothing, for that will find the client. */
  void add(ClientEntry client) {
    if (open) {
      inTurn(() -> addOne(client));
    }
  }

  /** Removes one client; does nothing where it was not added, or is being removed by this very thread. */
  void remove(ClientEntry client) {
    inTurn(
        () -> {
          for (Adding each = adding; each != null; each = each.outer) {
            each.left |= each.client.equals(client); // it leaves from inside its own call
          }
          Context context = take(client);
          if (context != null) {
            removeOne(client, context);
            control.leftOpen(context.device(), false).forEach(each -> LOG.info("{} has left {}", client, each));
            context.close();
            control.close(context.device());
          }
        });
  }

  /** No more clients are added. */
  void close() {
    closed = true;
  }

  /**
   * Removes all clients in reverse. A context whose client was left behind stays open: the device's removal goes on.
   */
  void removeAll() {
    closed = true;
    inTurn(
        () -> {
          ClientEntry last = last();
          while (last != null) {
            Context context = take(last);
            if (context != null && removeOne(last, context)) {
              context.close();
            }
            last = last();
          }
          emptied = true;
        });
  }

  private void addOne(ClientEntry client) {
    if (closed || client.isGone() || isAdded(client)) {
      return;
    }
    Context context;
    try {
      context = control.openClient(client.bundle(), client.name());
    } catch (VerbsException e) {
      LOG.debug("{} goes before {} is added", device, client, e);
      return;
    }
    boolean[] failed = new boolean[1];
    Adding current = new Adding(client, adding);
    adding = current;
    boolean returned =
        call(
            client,
            client + " in add for " + device,
            () -> {
              try {
                client.client().add(context);
              } catch (Throwable e) {
                failed[0] = true;
                LOG.error("{} failed in add for {}; it is not told of the removal", client, device, e);
              }
            });
    adding = current.outer;
    if (!returned || failed[0] || current.left) {
      context.close();
      return;
    }
    synchronized (contexts) {
      contexts.put(client, context);
      order.add(client);
    }
    if (emptied && take(client) != null) {
      // The client itself made the device go while it was being added.
      removeOne(client, context);
    }
  }

  private boolean removeOne(ClientEntry client, Context context) {
    return call(
        client,
        client + " in remove for " + device,
        () -> {
          try {
            client.client().remove(context);
          } catch (Throwable e) {
            LOG.error("{} failed in remove for {}", client, device, e);
          }
        });
  }

  /**
   * Calls a client. What a client brings about for itself in a call, such as its end for other devices where it stops
   * its bundle, runs on the same thread under the same watch: another would wait for the locks that this one has.
   */
  private boolean call(ClientEntry client, String what, Runnable code) {
    Set<ClientCalls> outside = INSIDE.get();
    Set<ClientCalls> inside = new HashSet<>(outside);
    inside.add(this);
    if (client.equals(CLIENT.get())) {
      INSIDE.set(inside);
      try {
        code.run();
      } finally {
        INSIDE.set(outside);
      }
      return true;
    }
    return Watch.run(
        what,
        () -> {
          INSIDE.set(inside);
          CLIENT.set(client);
          code.run();
        },
        settings.get());
  }

  private void inTurn(Runnable calls) {
    if (isInside()) {
      calls.run();
      return;
    }
    turn.acquireUninterruptibly();
    try {
      calls.run();
    } finally {
      turn.release();
    }
  }

  private boolean isAdded(ClientEntry client) {
    synchronized (contexts) {
      return contexts.containsKey(client);
    }
  }

  private ClientEntry last() {
    synchronized (contexts) {
      return order.isEmpty() ? null : order.getLast();
    }
  }

  private Context take(ClientEntry client) {
    synchronized (contexts) {
      order.remove(client);
      return contexts.remove(client);
    }
  }
}
