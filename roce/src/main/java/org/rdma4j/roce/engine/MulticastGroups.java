package org.rdma4j.roce.engine;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.link.Link;
import org.rdma4j.roce.link.LinkException;

/**
 * The multicast groups of a port and the queue pairs attached to them (kernel: {@code rxe_mcast.c}). The link is a
 * member of a group while a queue pair is attached to it. Looking up allocates nothing; all of it belongs to the
 * engine thread.
 */
public final class MulticastGroups {
  /** The queue pair number that stands for all members of the group a packet is sent to. */
  public static final int QP_NUMBER = 0xffffff;

  private static final QpContext[] NOBODY = {};

  private final Link link;
  private final Map<Gid, QpContext[]> groups = new HashMap<>();
  private Gid[] keys = {};
  private QpContext[][] members = {};
  private int attachments;

  MulticastGroups(Link link) {
    this.link = link;
  }

  /** {@return how many groups have a member} */
  public int size() {
    return groups.size();
  }

  /** {@return how many attachments there are, of all groups together} */
  public int attachments() {
    return attachments;
  }

  /**
   * Counts the members of a group.
   *
   * @param group its address
   * @return how many queue pairs are attached to it
   */
  public int members(Gid group) {
    return groups.getOrDefault(group, NOBODY).length;
  }

  /**
   * Says whether a queue pair is attached to a group.
   *
   * @param group its address
   * @param qp the queue pair
   * @return true from {@link #attach} on until {@link #detach} or the end of the queue pair
   */
  public boolean isMember(Gid group, QpContext qp) {
    return Arrays.asList(groups.getOrDefault(group, NOBODY)).contains(qp);
  }

  /**
   * Attaches a queue pair to a group; does nothing where it is attached.
   *
   * @param group its address
   * @param qp a queue pair of this engine, of a datagram service
   * @throws LinkException where the link cannot join the group; nothing has changed then
   */
  public void attach(Gid group, QpContext qp) {
    if (isMember(group, qp)) {
      return;
    }
    QpContext[] old = groups.getOrDefault(group, NOBODY);
    if (old.length == 0) {
      link.joinGroup(group);
    }
    QpContext[] more = Arrays.copyOf(old, old.length + 1);
    more[old.length] = qp;
    groups.put(group, more);
    attachments++;
    index();
  }

  /**
   * Detaches a queue pair from a group; the last one takes the link out of it.
   *
   * @param group its address
   * @param qp the queue pair
   * @return false where it was not attached
   */
  public boolean detach(Gid group, QpContext qp) {
    if (!isMember(group, qp)) {
      return false;
    }
    QpContext[] fewer =
        Arrays.stream(groups.get(group)).filter(each -> each != qp).toArray(QpContext[]::new);
    if (fewer.length == 0) {
      groups.remove(group);
      link.leaveGroup(group);
    } else {
      groups.put(group, fewer);
    }
    attachments--;
    index();
    return true;
  }

  /** A queue pair ends. */
  void forget(QpContext qp) {
    if (attachments > 0) {
      groups.keySet().stream().filter(group -> isMember(group, qp)).toList().forEach(group -> detach(group, qp));
    }
  }

  /** The members of a group by its address; an array that never changes. */
  QpContext[] members(long hi, long lo) {
    int mask = keys.length - 1;
    if (mask < 0) {
      return NOBODY;
    }
    for (int i = hash(hi, lo) & mask; keys[i] != null; i = i + 1 & mask) {
      if (keys[i].lo() == lo && keys[i].hi() == hi) {
        return members[i];
      }
    }
    return NOBODY;
  }

  /** Makes the table for {@link #members(long, long)} anew: open addressing, at least half of it empty. */
  private void index() {
    int size = groups.isEmpty() ? 0 : Integer.highestOneBit(groups.size()) << 2;
    Gid[] newKeys = new Gid[size];
    QpContext[][] newMembers = new QpContext[size][];
    groups.forEach(
        (group, all) -> {
          int i = hash(group.hi(), group.lo()) & size - 1;
          while (newKeys[i] != null) {
            i = i + 1 & size - 1;
          }
          newKeys[i] = group;
          newMembers[i] = all;
        });
    keys = newKeys;
    members = newMembers;
  }

  private static int hash(long hi, long lo) {
    long mixed = (hi ^ Long.rotateLeft(lo, 29)) * 0x9e37_79b9_7f4a_7c15L;
    return (int) (mixed >>> 32);
  }
}
