package org.rdma4j.mlx5.device.internal;

import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.Set;
import org.rdma4j.mlx5.ifc.CommandStatus;

/** Pages of the host that the driver has handed over (MANAGE_PAGES). Engine thread, as all of the firmware. */
final class HostPages {
  static final int PAGE = 4096;

  private final Set<Long> all = new HashSet<>();
  private final ArrayDeque<Long> free = new ArrayDeque<>();
  private int requested;
  private int missing;

  int size() {
    return all.size();
  }

  int free() {
    return free.size();
  }

  /** Pages that the driver was asked for and has not given. */
  int requested() {
    return requested;
  }

  /** How many were lacking when a command last failed for want of pages. */
  int missing() {
    return missing;
  }

  void forgetMissing() {
    missing = 0;
  }

  void requested(int count) {
    requested = count;
  }

  boolean has(long page) {
    return all.contains(page);
  }

  void give(long page) {
    all.add(page);
    free.add(page);
  }

  /** Makes sure that so many pages can be taken. */
  void require(int count) throws CommandFailure {
    if (free.size() < count) {
      missing = count - free.size();
      throw new CommandFailure(CommandStatus.NO_RESOURCES, Syndrome.NO_FREE_PAGE);
    }
  }

  /** A page for the card's own use. */
  long take() throws CommandFailure {
    require(1);
    return free.poll();
  }

  /** A page that the card does not need any more, for now. */
  void putBack(long page) {
    free.addFirst(page);
  }

  /** A free page for the driver; the caller has seen that there is one. */
  long reclaim() {
    long page = free.removeLast();
    all.remove(page);
    return page;
  }
}
