package org.rdma4j.ib.core.internal;

import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.rdma4j.ib.core.verbs.DeviceControl;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.IbDevice;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One device from its registration to its end ({@code ib_register_device}, {@code __ib_unregister_device}). The removal
 * runs once, on the thread of whoever asks first; others wait for its end, but not those who ask from inside it.
 */
final class RegisteredDevice {
  private static final Logger LOG = LoggerFactory.getLogger(RegisteredDevice.class);

  /** How long steps 3 and 4 wait for a call that does not return. */
  private static final long PATIENCE_MILLIS = 5_000;

  private enum Stage {
    COMING,
    THERE,
    GOING
  }

  private final IbDevice provider;
  private final DeviceControl control;
  private final DeviceNames.Assigned assigned;
  private final Supplier<Settings> settings;
  private final ClientCalls clients;
  private final GidManager gids;
  private final CountDownLatch gone = new CountDownLatch(1);
  private final Thread comingOn = Thread.currentThread();
  private Stage stage = Stage.COMING; // guarded by this
  private Runnable withdraw; // guarded by this

  RegisteredDevice(
      IbDevice provider,
      DeviceControl control,
      DeviceNames.Assigned assigned,
      Supplier<Settings> settings,
      GidManager gids) {
    this.provider = provider;
    this.control = control;
    this.assigned = assigned;
    this.settings = settings;
    this.gids = gids;
    this.clients = new ClientCalls(assigned.name(), control, settings);
    control.noteCreationSites(settings.get().creationSites());
  }

  String name() {
    return assigned.name();
  }

  int index() {
    return assigned.index();
  }

  DeviceControl control() {
    return control;
  }

  DeviceNames.Assigned assigned() {
    return assigned;
  }

  IbDevice provider() {
    return provider;
  }

  ClientCalls clients() {
    return clients;
  }

  /**
   * Brings the device up to the point where it takes users; on failure everything is undone.
   *
   * @throws VerbsException why not
   */
  void comeUp() {
    try {
      control.load(assigned.name(), assigned.index());
      checkComing();
      gids.attach(control);
      checkComing();
      control.enable();
      checkComing();
    } catch (VerbsException e) {
      LOG.debug("{} does not come up", assigned.name(), e);
      end();
      throw e;
    }
  }

  /** Whoever removes the device has waited for its provider no longer. */
  private synchronized void checkComing() {
    if (stage == Stage.GOING) {
      throw new VerbsException(Errno.ENODEV, name() + " was removed before it came up");
    }
  }

  /** Publishes the device and tells the clients, unless it is going already. */
  void announce(Publisher publisher, Supplier<List<ClientEntry>> inOrder) {
    synchronized (this) {
      if (stage != Stage.COMING) {
        return;
      }
      stage = Stage.THERE;
      control.accept();
      notifyAll();
    }
    Runnable published = publisher.publish(this);
    boolean late;
    synchronized (this) {
      late = stage == Stage.GOING;
      withdraw = late ? null : published;
    }
    if (late) {
      published.run();
      return;
    }
    clients.addAll(inOrder);
  }

  /** The five steps of the removal; returns when the provider is released. */
  void remove() {
    if (!begin()) {
      awaitEnd();
      return;
    }
    LOG.debug("{} goes", assigned.name());
    control.refuse();
    clients.close();
    withdraw();
    clients.removeAll();
    end();
    LOG.info("device {} is gone", assigned.name());
  }

  private synchronized boolean begin() {
    long start = System.nanoTime();
    long limit = settings.get().providerLimitMillis();
    long until = Math.min(settings.get().providerWarnMillis(), limit);
    boolean interrupted = false;
    while (stage == Stage.COMING && comingOn != Thread.currentThread()) {
      long left = until - TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
      if (left > 0) {
        try {
          wait(left);
        } catch (InterruptedException e) {
          interrupted = true;
        }
      } else if (until < limit) {
        LOG.warn("{} does not come up; after {} ms its provider is at:\n{}", name(), until, Watch.stack(comingOn));
        until = limit;
      } else {
        LOG.warn("{} goes before it came up: its provider is left behind after {} ms", name(), limit);
        break;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    boolean first = stage != Stage.GOING;
    stage = Stage.GOING;
    return first;
  }

  private void awaitEnd() {
    if (clients.isInside()) {
      return;
    }
    boolean interrupted = false;
    while (true) {
      try {
        gone.await();
        break;
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void withdraw() {
    Runnable published;
    synchronized (this) {
      published = withdraw;
      withdraw = null;
    }
    if (published != null) {
      Watch.run(
          "a user of device " + assigned.name() + " that is told of its end",
          () -> {
            try {
              published.run();
            } catch (RuntimeException | Error e) {
              LOG.error("the service of {} could not be withdrawn", assigned.name(), e);
            }
          },
          settings.get());
    }
  }

  private void end() {
    synchronized (this) {
      stage = Stage.GOING;
      notifyAll();
    }
    control.refuse();
    control.patience(settings.get().providerWarnMillis(), settings.get().providerLimitMillis());
    gids.detach(control);
    control.disassociate(PATIENCE_MILLIS);
    control.destroyLeft(PATIENCE_MILLIS);
    control.release();
    gone.countDown();
  }
}
