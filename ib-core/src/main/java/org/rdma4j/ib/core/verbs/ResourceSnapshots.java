package org.rdma4j.ib.core.verbs;

import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Snapshots of what a device tracks ({@code nldev.c:fill_res_*_entry}). */
final class ResourceSnapshots implements ResourceTable {
  private static final Logger LOG = LoggerFactory.getLogger(ResourceSnapshots.class);

  private final ResourceTracker tracker;

  ResourceSnapshots(ResourceTracker tracker) {
    this.tracker = tracker;
  }

  @Override
  public int count(ResourceType type) {
    return switch (type) {
      case PD -> tracker.snapshot(ProtectionDomain.class).size();
      case CQ -> tracker.snapshot(CompletionQueue.class).size();
      case QP -> realQueuePairs().size();
      case MR -> tracker.snapshot(MemoryRegion.class).size();
      case SRQ -> tracker.snapshot(SharedReceiveQueue.class).size();
      case CTX -> tracker.contexts().size();
      case CM_ID -> 0;
    };
  }

  @Override
  public List<Ctx> contexts() {
    return tracker.contexts().stream().map(each -> new Ctx(each.id(), each.owner(each.sequence()))).toList();
  }

  @Override
  public List<Pd> protectionDomains() {
    return tracker.snapshot(ProtectionDomain.class).stream()
        .map(each -> new Pd(each.id(), each.localDmaLkey(), each.useCount(), owner(each)))
        .toList();
  }

  @Override
  public List<Cq> completionQueues() {
    return tracker.snapshot(CompletionQueue.class).stream()
        .map(each -> new Cq(each.id(), each.entries(), each.useCount(), owner(each)))
        .toList();
  }

  @Override
  public List<Qp> queuePairs() {
    List<Qp> found = new ArrayList<>();
    for (QueuePair each : realQueuePairs()) {
      try {
        QpAttributes attr = each.query();
        found.add(
            new Qp(
                each.port(), each.number(), attr.destQpNumber(), each.type(), attr.state(), attr.rqPsn(), attr.sqPsn(),
                attr.pathMigrationState(), each.protectionDomain() == null ? -1 : each.protectionDomain().id(),
                owner(each)));
      } catch (VerbsException e) {
        LOG.debug("{} went while it was listed", each, e);
      }
    }
    return found;
  }

  @Override
  public String failure(int qpNumber) {
    return tracker.snapshot(QueuePair.class).stream()
        .filter(each -> each.number() == qpNumber)
        .map(QueuePair::lastFailure)
        .findFirst()
        .orElse(null);
  }

  @Override
  public List<Mr> memoryRegions() {
    return tracker.snapshot(MemoryRegion.class).stream()
        .map(
            each ->
                new Mr(
                    each.id(), each.rkey(), each.lkey(), each.address(), each.length(), each.protectionDomain().id(),
                    owner(each)))
        .toList();
  }

  @Override
  public List<Srq> sharedReceiveQueues() {
    return tracker.snapshot(SharedReceiveQueue.class).stream()
        .map(each -> new Srq(
                each.id(), each.type(), users(each), each.protectionDomain().id(),
                each.cq() == null ? -1 : each.cq().id(), owner(each)))
        .toList();
  }

  /** Handles on a target that is shared are no queue pairs of their own. */
  private List<QueuePair> realQueuePairs() {
    return tracker.snapshot(QueuePair.class).stream().filter(each -> each.real() == each).toList();
  }

  private static List<Integer> users(SharedReceiveQueue srq) {
    return srq.users().stream()
        .map(ObjectContext::object)
        .filter(QueuePair.class::isInstance)
        .map(each -> ((QueuePair) each).number())
        .toList();
  }

  private static Owner owner(VerbsObject object) {
    return object.context().owner(object.sequence());
  }
}
