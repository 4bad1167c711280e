package org.rdma4j.mlx5.ib;

import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.mlx5.core.MemoryKeyCommands;
import org.rdma4j.mlx5.core.Mlx5Exception;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keys of regions (kernel: {@code mr.c}): a free key that the driver's own queue pair fills where that can be, else one
 * made by a command. The end of a key that windows may be bound to is the card's to refuse, so those are always made
 * and ended by commands. Safe for any thread.
 */
final class RegionKeys {
  private static final Logger LOG = LoggerFactory.getLogger(RegionKeys.class);

  /**
   * A key that a region has.
   *
   * @param value the key
   * @param order what it has room for, see {@link KeyCache}; -1 for one that was made by a command
   */
  record Held(int value, int order) {}

  private final ConnectxDevice device;
  private final KeyCache cache;
  private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
  private UmrQueue queue; // null before it is made and after its end; guarded by lock
  private boolean closed;

  RegionKeys(ConnectxDevice device) {
    this.device = device;
    this.cache = new KeyCache(device);
  }

  /** Makes the driver's own queue pair; without it everything goes by commands. */
  void open() {
    lock.writeLock().lock();
    try {
      if (!closed && queue == null) {
        queue = UmrQueue.open(device);
        cache.domain(queue.pd());
      }
    } catch (VerbsException e) {
      if (device.isUp()) {
        LOG.warn("{}: registrations go by commands, without a queue pair: {}", device.name(), e.getMessage());
      } else {
        LOG.debug("{}: the card went before there was a queue pair for registrations", device.name(), e);
      }
    } finally {
      lock.writeLock().unlock();
    }
  }

  /** Ends what is kept; no region has a key any more. */
  void close() {
    lock.writeLock().lock();
    try {
      closed = true;
      cache.clear();
      if (queue != null) {
        queue.close();
        queue = null;
      }
    } finally {
      lock.writeLock().unlock();
    }
  }

  /** Keys that wait for a region. */
  int free() {
    return cache.size();
  }

  private boolean isForQueue(RegionShape shape) {
    return queue != null
        && !shape.takesWindows()
        && shape.pages() <= UmrQueue.MOST_PAGES
        && KeyCache.order(shape.pages()) >= 0;
  }

  /**
   * A key for a region.
   *
   * @throws Mlx5Exception what the card says
   */
  Held create(RegionShape shape) {
    lock.readLock().lock();
    try {
      Held held = isForQueue(shape) ? fill(shape) : null;
      return held != null ? held : new Held(MemoryKeyCommands.create(device.core(), shape.creation()), -1);
    } finally {
      lock.readLock().unlock();
    }
  }

  /** By the queue pair; null when the card refuses. */
  private Held fill(RegionShape shape) {
    int order = KeyCache.order(shape.pages());
    int free = cache.take(order);
    int key = another(free);
    try {
      queue.enable(key, shape, true);
      return new Held(key, order);
    } catch (Mlx5Exception e) {
      device.refused("filling a memory key", e);
      cache.destroy(free);
      return null;
    }
  }

  /** The same key for another owner, or other memory. */
  private int another(int key) {
    int next;
    do {
      next = key & -1 << Byte.SIZE | device.core().nextKeyVariant() & 0xff;
    } while (next == key);
    return next;
  }

  /**
   * Changes what a key is of, all at once.
   *
   * @param same whether the key stays the same
   * @return the key, or null when it takes another one
   */
  Held change(Held held, RegionShape shape, boolean same) {
    lock.readLock().lock();
    try {
      boolean fits = held.order() >= 0 && shape.pages() <= KeyCache.pages(held.order());
      if (!fits || !isForQueue(shape)) {
        return null;
      }
      int key = same ? held.value() : another(held.value());
      queue.enable(key, shape, false);
      return new Held(key, held.order());
    } catch (Mlx5Exception e) {
      device.refused("changing a memory key", e);
      return null;
    } finally {
      lock.readLock().unlock();
    }
  }

  /** Ends the use of a key that was not made by a command. */
  void release(Held held) {
    lock.readLock().lock();
    try {
      if (queue != null) {
        queue.revoke(held.value());
        cache.give(held.order(), held.value());
        return;
      }
    } catch (Mlx5Exception e) {
      LOG.debug("{}: a key is destroyed, not kept: {}", device.name(), e.getMessage());
    } finally {
      lock.readLock().unlock();
    }
    cache.destroy(held.value());
  }
}
