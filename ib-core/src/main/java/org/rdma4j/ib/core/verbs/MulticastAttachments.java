package org.rdma4j.ib.core.verbs;

import java.util.LinkedHashSet;
import java.util.Set;
import java.util.stream.Collectors;
import org.rdma4j.roce.address.Gid;

/**
 * The multicast groups that a queue pair is attached to ({@code ib_uverbs_mcast_entry}). Guarded by the lock of the
 * queue pair's control path; reading for messages is safe for any thread.
 */
final class MulticastAttachments {
  private record Attachment(Gid group, int lid) {}

  private volatile Set<Attachment> all = Set.of();

  boolean contains(Gid group, int lid) {
    return all.contains(new Attachment(group, lid));
  }

  boolean isEmpty() {
    return all.isEmpty();
  }

  void add(Gid group, int lid) {
    Set<Attachment> more = new LinkedHashSet<>(all);
    more.add(new Attachment(group, lid));
    all = more;
  }

  void remove(Gid group, int lid) {
    Set<Attachment> fewer = new LinkedHashSet<>(all);
    fewer.remove(new Attachment(group, lid));
    all = fewer;
  }

  @Override
  public String toString() {
    return all.isEmpty()
        ? "none"
        : all.stream().map(each -> each.group() + "/" + each.lid()).collect(Collectors.joining(", "));
  }
}
