package org.rdma4j.ib.core.verbs;

import java.util.List;
import org.osgi.annotation.versioning.ProviderType;

/**
 * The tracked objects of a device and of all its users ({@code restrack.c}, what {@code rdma resource show} lists);
 * safe for any thread. Every method takes a snapshot. Numbers of QPs are their QP numbers; all others count up from 0
 * and start over at the end of their range.
 */
@ProviderType
public interface ResourceTable {
  /**
   * Who made an object.
   *
   * @param bundle symbolic name of the owning bundle
   * @param comm the name given at open, or the bundle's
   * @param pid the process for user objects, 0 for kernel style ones
   * @param kernel true for objects of a kernel style client
   * @param contextId the number of the user context, -1 for kernel style ones
   * @param sequence place in the order of creation of all objects of the device
   */
  record Owner(String bundle, String comm, long pid, boolean kernel, int contextId, long sequence) {}

  /**
   * A user context.
   *
   * @param id its number
   * @param owner who made it
   */
  record Ctx(int id, Owner owner) {}

  /**
   * A protection domain.
   *
   * @param id its number
   * @param localDmaLkey the key for all local memory, 0 where there is none
   * @param users how many objects use it
   * @param owner who made it
   */
  record Pd(int id, int localDmaLkey, int users, Owner owner) {}

  /**
   * A completion queue.
   *
   * @param id its number
   * @param entries how many entries it has
   * @param users how many queues complete to it
   * @param owner who made it
   */
  record Cq(int id, int entries, int users, Owner owner) {}

  /**
   * A queue pair.
   *
   * @param port the port, 0 before it has one
   * @param number its number
   * @param remoteNumber the peer's, for connected types
   * @param type the type
   * @param state the state
   * @param rqPsn next packet sequence number expected
   * @param sqPsn next packet sequence number sent
   * @param migration path migration state
   * @param pdId number of the protection domain, -1 for a target of an extended reliable connection
   * @param owner who made it
   */
  record Qp(
      int port,
      int number,
      int remoteNumber,
      QpType type,
      QpState state,
      int rqPsn,
      int sqPsn,
      MigrationState migration,
      int pdId,
      Owner owner) {}

  /**
   * A memory region.
   *
   * @param id its number
   * @param rkey the remote key
   * @param lkey the local key
   * @param iova the first address
   * @param length bytes
   * @param pdId number of the protection domain
   * @param owner who made it
   */
  record Mr(int id, int rkey, int lkey, long iova, long length, int pdId, Owner owner) {}

  /**
   * A shared receive queue.
   *
   * @param id its number
   * @param type the type
   * @param qpNumbers the queue pairs that use it
   * @param pdId number of the protection domain
   * @param cqId number of its completion queue, -1 for types without
   * @param owner who made it
   */
  record Srq(int id, SrqType type, List<Integer> qpNumbers, int pdId, int cqId, Owner owner) {}

  /**
   * Counts objects.
   *
   * @param type of which kind
   * @return how many there are
   */
  int count(ResourceType type);

  /** {@return the user contexts by number} */
  List<Ctx> contexts();

  /** {@return the protection domains by number} */
  List<Pd> protectionDomains();

  /** {@return the completion queues by number} */
  List<Cq> completionQueues();

  /** {@return the queue pairs by number} */
  List<Qp> queuePairs();

  /**
   * Tells what failed on a queue pair, as {@link QueuePair#lastFailure()}.
   *
   * @param qpNumber its number
   * @return sentences for a person, or null where there is no such queue pair
   */
  default String failure(int qpNumber) {
    return null;
  }

  /** {@return the memory regions by number} */
  List<Mr> memoryRegions();

  /** {@return the shared receive queues by number} */
  List<Srq> sharedReceiveQueues();
}
