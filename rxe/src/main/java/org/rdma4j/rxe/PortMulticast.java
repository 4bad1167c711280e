package org.rdma4j.rxe;

import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.engine.Engine;
import org.rdma4j.roce.engine.MulticastGroups;
import org.rdma4j.roce.engine.QpContext;
import org.rdma4j.roce.link.LinkException;

/**
 * The multicast attachments of a port and their limits (kernel: {@code rxe_mcast.c:rxe_attach_mcast}). Changes run on
 * the engine's thread.
 */
final class PortMulticast {
  private final Engine engine;

  PortMulticast(Engine engine) {
    this.engine = engine;
  }

  void attach(Gid group, RxeQueuePair qp) {
    QpContext transport = qp.transport();
    control(
        () -> {
          MulticastGroups groups = engine.groups();
          if (!groups.isMember(group, transport)) {
            checkLimits(groups.size(), groups.members(group), groups.attachments(), group, qp);
            groups.attach(group, transport);
          }
        });
  }

  /** What the numbers before the attachment say to it. */
  static void checkLimits(int groups, int members, int attachments, Gid group, Object who) {
    if (members == 0) {
      limit(groups, Limits.MAX_MCAST_GROUPS, "max_mcast_grp", "groups", group, who);
    }
    limit(members, Limits.MAX_MCAST_QP_ATTACH, "max_mcast_qp_attach", "queue pairs in the group", group, who);
    limit(attachments, Limits.MAX_TOTAL_MCAST_QP_ATTACH, "max_total_mcast_qp_attach", "attachments", group, who);
  }

  private static void limit(int present, int max, String name, String what, Gid group, Object who) {
    if (present >= max) {
      throw new VerbsException(
          Errno.ENOMEM,
          who + " cannot be attached to " + group + ": there are " + present + " " + what + " already, " + name + " is "
              + max);
    }
  }

  /** The same group under another LID, which means nothing here, may have been detached before. */
  void detach(Gid group, RxeQueuePair qp) {
    control(() -> engine.groups().detach(group, qp.transport()));
  }

  private void control(Runnable change) {
    try {
      engine.run(change);
    } catch (LinkException e) {
      throw PortAddresses.translate(e);
    }
  }
}
