package org.rdma4j.rdma.cm.internal.cma;

import java.util.ArrayList;
import java.util.List;
import org.rdma4j.ib.core.verbs.CompletionChannel;
import org.rdma4j.ib.core.verbs.CompletionQueue;
import org.rdma4j.ib.core.verbs.Context;
import org.rdma4j.ib.core.verbs.ProtectionDomain;
import org.rdma4j.ib.core.verbs.QpAttributes;
import org.rdma4j.ib.core.verbs.QpInitAttributes;
import org.rdma4j.ib.core.verbs.QpState;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.QueuePair;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.ib.core.verbs.VerbsObject;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The queue pair of an identifier and the completion queues made for it (librdmacm: {@code ucma_create_cqs}). */
final class QueuePairs {
  private static final Logger LOG = LoggerFactory.getLogger(QueuePairs.class);

  private final List<VerbsObject> made = new ArrayList<>(); // in the order in which they were
  private QueuePair qp;

  private QueuePairs() {}

  /** Makes them; of what cannot be made whole nothing is left. */
  static QueuePairs make(Context context, ProtectionDomain domain, QpInitAttributes attributes, QpAttributes init) {
    QueuePairs all = new QueuePairs();
    boolean done = false;
    try {
      all.create(context, domain, new QpInitAttributes(attributes), init);
      done = true;
      return all;
    } finally {
      if (!done) {
        all.destroy();
      }
    }
  }

  private void create(Context context, ProtectionDomain domain, QpInitAttributes wanted, QpAttributes init) {
    if (wanted.sendCq() == null) {
      wanted.sendCq(queue(context, wanted.capabilities().maxSendWr()));
    }
    if (wanted.recvCq() == null) {
      wanted.recvCq(queue(context, wanted.srq() == null ? wanted.capabilities().maxRecvWr() : 1));
    }
    qp = domain.createQp(wanted.port(init.port()));
    made.add(qp);
    qp.modify(init);
    if (qp.type() == QpType.UD) {
      qp.modify(new QpAttributes().state(QpState.RTR));
      qp.modify(new QpAttributes().state(QpState.RTS).sqPsn(0));
    }
  }

  private CompletionQueue queue(Context context, int entries) {
    CompletionChannel channel = context.createCompletionChannel();
    made.add(channel);
    CompletionQueue queue = context.createCq(Math.max(1, entries), channel, 0);
    made.add(queue);
    return queue;
  }

  QueuePair qp() {
    return qp;
  }

  /** What is posted is flushed from now on. */
  void fail() {
    try {
      qp.modify(new QpAttributes().state(QpState.ERR));
    } catch (VerbsException e) {
      LOG.debug("{} did not fail", qp, e);
    }
  }

  /** Destroys them; what somebody still uses or took away is left to its device. */
  void destroy() {
    for (VerbsObject each : made.reversed()) {
      try {
        each.destroy();
      } catch (VerbsException e) {
        LOG.debug("{} is left", each, e);
      }
    }
    made.clear();
  }
}
