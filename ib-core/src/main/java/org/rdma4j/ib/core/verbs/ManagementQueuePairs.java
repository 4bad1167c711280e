package org.rdma4j.ib.core.verbs;

import java.util.EnumMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * Which ports of a device have their queue pairs of the management types: there is one of each, and whoever makes it
 * has it. The kernel leaves that to its drivers ({@code rxe_qp_chk_init}, {@code gsi.c:mlx5_ib_create_gsi}), which
 * answer with different numbers.
 */
final class ManagementQueuePairs {
  private final Map<QpType, Set<Integer>> taken = new EnumMap<>(QpType.class); // guarded by this

  /** Takes the place of a queue pair that is about to be made; others than of management have none to take. */
  synchronized void claim(QpInitAttributes init, String device) {
    QpType type = init.type();
    if (type.isManagement() && !taken.computeIfAbsent(type, ignored -> new HashSet<>()).add(init.port())) {
      throw new VerbsException(
          Errno.EBUSY, "port " + init.port() + " of " + device + " has its queue pair of type " + type + " already");
    }
  }

  /** It was not made, or has ended. */
  synchronized void release(QpInitAttributes init) {
    if (init.type().isManagement()) {
      taken.get(init.type()).remove(init.port());
    }
  }
}
