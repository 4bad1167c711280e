package org.rdma4j.it.container;

import java.util.ArrayDeque;
import org.rdma4j.ib.core.verbs.Access;
import org.rdma4j.ib.core.verbs.CompletionQueue;
import org.rdma4j.ib.core.verbs.MemoryRegion;
import org.rdma4j.ib.core.verbs.ProtectionDomain;
import org.rdma4j.ib.core.verbs.QpAttributes;
import org.rdma4j.ib.core.verbs.QpCapabilities;
import org.rdma4j.ib.core.verbs.QpInitAttributes;
import org.rdma4j.ib.core.verbs.QpState;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.QueuePair;
import org.rdma4j.ib.core.verbs.ReceiveWorkRequest;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.ib.core.verbs.WorkCompletion;

/**
 * A queue pair that nobody is connected to, with receives that nobody can take: whatever traffic does beside it, these
 * are left to be flushed when the device goes, each once and in order.
 */
final class QuietPair {
  /** Marks the identifiers of its receives. */
  static final long MARK = 1L << 61;

  static final int RECEIVES = 4;

  private final QueuePair pair;
  private final ArrayDeque<Long> posted = new ArrayDeque<>();

  QuietPair(ProtectionDomain domain, CompletionQueue queue, MemoryRegion region) {
    pair =
        domain.createQp(
            new QpInitAttributes(QpType.RC)
                .sendCq(queue)
                .recvCq(queue)
                .capabilities(new QpCapabilities(1, RECEIVES, 1, 1, 0)));
    pair.modify(new QpAttributes().state(QpState.INIT).pkeyIndex(0).port(1).access(Access.LOCAL_WRITE));
    for (long id = MARK; id < MARK + RECEIVES; id++) {
      pair.postReceive(new ReceiveWorkRequest().wrId(id).addSge(region.address(), 1, region.lkey()));
      posted.add(id);
    }
  }

  static boolean owns(WorkCompletion completion) {
    return (completion.wrId() & MARK) != 0;
  }

  /** Strikes off one of its receives; whether it is the next, and flushed. */
  boolean complete(WorkCompletion completion) {
    Long next = posted.poll();
    return next != null && next == completion.wrId() && completion.status() == WcStatus.WR_FLUSH_ERR;
  }

  /** Whether all that it had was flushed. */
  boolean isEmpty() {
    return posted.isEmpty();
  }

  @Override
  public String toString() {
    return "quiet receives " + posted;
  }
}
