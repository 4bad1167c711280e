package org.rdma4j.rdma.cm.internal.cma;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.util.HashMap;
import java.util.Map;
import org.rdma4j.ib.core.verbs.AhAttributes;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.QueuePair;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.rdma.cm.DatagramParameters;
import org.rdma4j.rdma.cm.Ece;
import org.rdma4j.rdma.cm.MulticastJoin;
import org.rdma4j.rdma.cm.RdmaCmEvent;
import org.rdma4j.rdma.cm.RdmaCmEventType;
import org.rdma4j.roce.address.Gid;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The multicast groups of an identifier (kernel: {@code cma_iboe_join_multicast}; librdmacm attaches the queue pair).
 * Guarded by the identifier's lock.
 */
final class Groups {
  private static final Logger LOG = LoggerFactory.getLogger(Groups.class);
  private static final int MULTICAST_QP = 0xffffff;
  private static final int HOP_LIMIT = 64;

  private final Id id;
  private final Map<Gid, QueuePair> joined = new HashMap<>(); // null where no queue pair is attached

  Groups(Id id) {
    this.id = id;
  }

  void join(InetAddress group, MulticastJoin how) {
    String what = "join " + group.getHostAddress();
    if (id.qpType() != QpType.UD) {
      throw new VerbsException(
          Errno.EINVAL, "%s: groups are for datagrams, port space %s has none".formatted(what, id.portSpace()));
    }
    if (id.device() == null) {
      throw new VerbsException(Errno.EINVAL, "%s: %s has no device yet".formatted(what, id));
    }
    if (!group.isMulticastAddress()) {
      throw new VerbsException(Errno.EINVAL, what + ": this is not the address of a multicast group");
    }
    if (!(group instanceof Inet4Address)) {
      throw new VerbsException(
          Errno.EOPNOTSUPP, what + ": groups of IPv6 are not supported over RoCE v2, those of IPv4 are");
    }
    Gid mgid = Gid.of(group);
    if (joined.containsKey(mgid)) {
      throw new VerbsException(Errno.EINVAL, what + ": it is joined already");
    }
    QueuePair member = how == MulticastJoin.FULL_MEMBER ? id.qp() : null;
    if (member != null) {
      member.attachMulticast(mgid, 0);
    }
    joined.put(mgid, member);
    AhAttributes way = new AhAttributes(id.port(), mgid, id.gid().index()).withHopLimit(HOP_LIMIT);
    var datagram = new DatagramParameters(new byte[0], way, MULTICAST_QP, Conversation.QKEY);
    id.post(
        new RdmaCmEvent(
            RdmaCmEventType.MULTICAST_JOIN, 0, id, null, null, datagram, Ece.NONE, id.between() + ", " + what));
  }

  void leave(InetAddress group) {
    Gid mgid = Gid.of(group);
    if (!joined.containsKey(mgid)) {
      throw new VerbsException(Errno.EADDRNOTAVAIL, "leave " + group.getHostAddress() + ": it is not joined");
    }
    detach(mgid, joined.remove(mgid));
    id.events()
        .extract(
            each ->
                each.event().id() == id
                    && each.event().type() == RdmaCmEventType.MULTICAST_JOIN
                    && each.event().datagram().way().destinationGid().equals(mgid));
  }

  /** The queue pair leaves all of them. */
  void detach() {
    joined.forEach(Groups::detach);
    joined.clear();
  }

  private static void detach(Gid mgid, QueuePair member) {
    if (member == null) {
      return;
    }
    try {
      member.detachMulticast(mgid, 0);
    } catch (VerbsException e) {
      LOG.debug("{} has not left {}", member, mgid, e);
    }
  }
}
