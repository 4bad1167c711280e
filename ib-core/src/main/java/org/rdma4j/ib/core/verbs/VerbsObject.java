package org.rdma4j.ib.core.verbs;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.osgi.annotation.versioning.ProviderType;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What all verbs objects share: an owner, parents that it pins, users that pin it, and an orderly end. The control path
 * of one object is serialised; every call checks that the object and its device are still there and counts as a user of
 * the device until it returns. Safe for any thread.
 *
 * <p>For providers: no hook of an object runs at the same time as another hook of the same object, except
 * {@code QueuePair.doQuiesce}, destruction and {@code CompletionQueue.doDetach} where the removal of the device had to
 * leave a hook behind that did not return in time. Hooks that end an object of a device that goes, or of a context that
 * closes, run on a thread of the core and are left behind there after a configured time; the provider is released
 * nevertheless, so a hook that comes back late must find closed what it needs, not freed memory. A hook that throws
 * anything but {@link VerbsException} is reported to the caller as EIO, OutOfMemoryError as ENOMEM, with the cause.
 */
@ProviderType
public abstract class VerbsObject implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(VerbsObject.class);

  private enum Life {
    LIVE,
    DESTROYING,
    DESTROYED,
    REMOVED
  }

  private final ObjectContext owner;
  private final ReentrantLock control = new ReentrantLock();
  private final List<ObjectContext> users = new ArrayList<>();
  private final AtomicBoolean finished = new AtomicBoolean();
  private volatile Life life = Life.LIVE;
  private volatile boolean hung; // a hook was left behind with the control lock; device or context are going
  private volatile int id = -1;

  VerbsObject(ObjectContext owner, ObjectKind kind) {
    this.owner = owner;
    owner.bind(this, kind);
  }

  /** {@return the context the object belongs to} */
  public final Context context() {
    return owner.context();
  }

  /** {@return its number in resource tracking; a queue pair's is its QP number; -1 before creation ends} */
  public final int id() {
    return id;
  }

  /** {@return its place in the order of creation of all objects of the device} */
  public final long sequence() {
    return owner.sequence();
  }

  /** {@return a name for messages, such as {@code QP 17}} */
  public final String label() {
    int number = id;
    return number < 0 ? owner.kind().label() : owner.kind().label() + " " + number;
  }

  /**
   * Destroys the object. Destroying what is destroyed already does nothing, and neither does destroying an object of a
   * removed device, except that a completion queue gives its remaining completions up.
   *
   * @throws VerbsException EBUSY while others use it; the message names them
   */
  public final void destroy() {
    if (hung) {
      return;
    }
    control.lock();
    try {
      if (life == Life.DESTROYED || life == Life.DESTROYING) {
        return;
      }
      if (!deviceState().gate().tryEnter()) {
        if (life == Life.REMOVED) {
          life = Life.DESTROYED;
          DeviceState.guarded(
              () -> {
                closeRemoved();
                return null;
              },
              this);
        }
        return;
      }
      try {
        destroyNow();
      } finally {
        deviceState().gate().exit();
      }
    } finally {
      control.unlock();
    }
  }

  /**
   * The same as {@link #destroy()}.
   *
   * @throws VerbsException EBUSY while others use it; the message names them
   */
  @Override
  public final void close() {
    destroy();
  }

  @Override
  public final String toString() {
    return label() + " of " + deviceState().name();
  }

  /** What keeps the object from being destroyed besides its users, or null. */
  String alsoUsedBy() {
    return null;
  }

  /** What the provider does to end the object. */
  abstract void providerDestroy();

  /** What the provider does when the device goes and the object with it. */
  void providerRemove() {
    providerDestroy();
  }

  /** The handle of an object whose device is gone is closed. */
  void closeRemoved() {}

  /** What else ends with the object. */
  void released() {}

  final DeviceState deviceState() {
    return owner.context().state();
  }

  final ObjectContext owner() {
    return owner;
  }

  final ObjectKind kind() {
    return owner.kind();
  }

  final void number(int number) {
    this.id = number;
  }

  /** True once its owner has destroyed it; not where its device has gone under it. */
  final boolean isDestroyed() {
    return life == Life.DESTROYED;
  }

  final int useCount() {
    synchronized (users) {
      return users.size();
    }
  }

  final List<ObjectContext> users() {
    synchronized (users) {
      return List.copyOf(users);
    }
  }

  final void pin(ObjectContext user) {
    synchronized (users) {
      checkUsable();
      users.add(user);
    }
  }

  final void unpin(ObjectContext user) {
    synchronized (users) {
      users.remove(user);
    }
  }

  /** Refuses what is destroyed (EINVAL) or whose device is gone (EIO). */
  final void checkUsable() {
    Life now = life;
    if (now == Life.REMOVED || deviceState().gate().isClosed()) {
      throw deviceState().removed(toString());
    }
    if (now != Life.LIVE) {
      throw new VerbsException(Errno.EINVAL, this + " is destroyed");
    }
  }

  /** Runs a provider's hook as a call on this object, under the name of a verb. */
  final <T> T call(String verb, Supplier<T> hook) {
    if (hung) {
      checkUsable();
    }
    control.lock();
    try {
      deviceState().enter(this::toString);
      try {
        checkUsable();
        return deviceState().provider().traced(verb, this, () -> DeviceState.guarded(hook, this));
      } finally {
        deviceState().gate().exit();
      }
    } finally {
      control.unlock();
    }
  }

  /**
   * Ends the object whatever its users say; for contexts that close and devices that go. Children were ended before.
   * Where the provider does not return the object ends without it.
   *
   * @param removal true where the device goes
   * @param patienceMillis how long to wait for a call on the object that has not returned
   */
  final ProviderHooks.Step end(boolean removal, long patienceMillis) {
    return new ProviderHooks.Step(
        "end of " + kind().label() + " as", this, () -> destroyForced(removal, patienceMillis), () -> abandon(removal));
  }

  private void abandon(boolean removal) {
    if (life == Life.LIVE || life == Life.DESTROYING) {
      life = removal ? Life.REMOVED : Life.DESTROYED;
    }
    hookHangs();
    finish();
  }

  private void destroyForced(boolean removal, long patienceMillis) {
    boolean locked = lockWithin(patienceMillis);
    try {
      if (life == Life.DESTROYED || life == Life.REMOVED) {
        return;
      }
      life = removal ? Life.REMOVED : Life.DESTROYED;
      deviceState().tracker().hide(this);
      try {
        deviceState()
            .provider()
            .tracedRun(kind().ending(), this, removal ? this::providerRemove : this::providerDestroy);
      } catch (RuntimeException | Error e) {
        LOG.error("{} could not be destroyed by its provider", this, e);
      }
      finish();
    } finally {
      if (locked) {
        control.unlock();
      }
    }
  }

  /** A hook was left behind: nobody waits for its lock any more. */
  final void hookHangs() {
    hung = true;
  }

  final boolean lockWithin(long patienceMillis) {
    if (hung) {
      return control.tryLock();
    }
    try {
      if (control.tryLock(patienceMillis, TimeUnit.MILLISECONDS)) {
        return true;
      }
      LOG.warn("a call on {} does not return; it is left behind", this);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return false;
  }

  final void unlock() {
    control.unlock();
  }

  private void destroyNow() {
    synchronized (users) {
      checkUsable();
      if (!users.isEmpty()) {
        throw new VerbsException(Errno.EBUSY, label() + " of " + deviceState().name() + " is used by " + userNames());
      }
      String other = alsoUsedBy();
      if (other != null) {
        throw new VerbsException(Errno.EBUSY, this + " is used by " + other);
      }
      life = Life.DESTROYING;
    }
    deviceState().tracker().hide(this);
    try {
      DeviceState.guarded(
          () -> {
            deviceState().provider().tracedRun(kind().ending(), this, this::providerDestroy);
            return null;
          },
          this);
    } catch (VerbsException e) {
      deviceState().tracker().show(this);
      life = Life.LIVE;
      throw e;
    }
    life = Life.DESTROYED;
    finish();
  }

  private void finish() {
    if (!finished.compareAndSet(false, true)) {
      return; // It was left behind, and has come back.
    }
    owner.unpinParents();
    deviceState().tracker().remove(this);
    released();
  }

  private String userNames() {
    Set<String> names = users.stream().map(ObjectContext::label).collect(Collectors.toCollection(LinkedHashSet::new));
    return String.join(", ", names);
  }
}
