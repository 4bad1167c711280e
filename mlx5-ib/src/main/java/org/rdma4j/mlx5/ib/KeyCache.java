package org.rdma4j.mlx5.ib;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import org.rdma4j.mlx5.core.MemoryKeyCommands;

/**
 * Free keys for regions, by how many pages they have room for: 4, 8, 16 and so on (kernel: {@code struct
 * mlx5_mr_cache}). It begins empty, as with profile 0 of the kernel's driver; keys that regions leave come back to it.
 * Safe for any thread.
 */
final class KeyCache {
  private static final int FIRST_LOG = 2;
  private static final int ORDERS = 17;

  /** More than this of an order are given back to the card. */
  private static final int MOST = 64;

  private final ConnectxDevice device;
  private final List<Queue<Integer>> free = new ArrayList<>(); // guarded by this
  private int pd; // of free keys

  KeyCache(ConnectxDevice device) {
    this.device = device;
    for (int i = 0; i < ORDERS; i++) {
      free.add(new ArrayDeque<>());
    }
  }

  /** Free keys belong to a domain of the driver's. */
  void domain(int number) {
    pd = number;
  }

  /** Which keys have room for so many pages; -1 when none have. */
  static int order(int pages) {
    int order = Math.max(0, Sizes.log(Sizes.roundUp(pages)) - FIRST_LOG);
    return order < ORDERS ? order : -1;
  }

  /** Pages that keys of an order have room for. */
  static int pages(int order) {
    return 1 << order + FIRST_LOG;
  }

  /** A free key, made when there is none. */
  int take(int order) {
    synchronized (this) {
      Integer found = free.get(order).poll();
      if (found != null) {
        return found;
      }
    }
    return MemoryKeyCommands.create(device.core(), RegionShape.creationOfFree(pages(order) / 2, pd));
  }

  /** A key is free again. */
  void give(int order, int key) {
    synchronized (this) {
      Queue<Integer> keys = free.get(order);
      if (keys.size() < MOST) {
        keys.add(key);
        return;
      }
    }
    destroy(key);
  }

  /** How many there are. */
  synchronized int size() {
    return free.stream().mapToInt(Queue::size).sum();
  }

  /** Gives all of them back to the card. */
  void clear() {
    List<Integer> all = new ArrayList<>();
    synchronized (this) {
      for (Queue<Integer> keys : free) {
        all.addAll(keys);
        keys.clear();
      }
    }
    all.forEach(this::destroy);
  }

  void destroy(int key) {
    device.giveBack("memory key", () -> MemoryKeyCommands.destroy(device.core(), key));
  }
}
