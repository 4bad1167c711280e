package org.rdma4j.rdma.cm.verbs;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import org.rdma4j.ib.core.verbs.Access;
import org.rdma4j.ib.core.verbs.AddressHandle;
import org.rdma4j.ib.core.verbs.CompletionQueue;
import org.rdma4j.ib.core.verbs.CqNotify;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.MemoryRegion;
import org.rdma4j.ib.core.verbs.QueuePair;
import org.rdma4j.ib.core.verbs.ReceiveWorkRequest;
import org.rdma4j.ib.core.verbs.SendFlag;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.ib.core.verbs.WorkCompletion;
import org.rdma4j.ib.core.verbs.WrOpcode;
import org.rdma4j.rdma.cm.RdmaCmId;

/**
 * The calls of {@code rdma_verbs.h}: one work request on the queue pair of an identifier, or one completion of it.
 * Threads: as {@link QueuePair#postSend}, {@link QueuePair#postReceive} and {@link CompletionQueue#poll} allow. Every
 * call fails with EINVAL for an identifier without queue pair.
 *
 * <p>Posting allocates nothing: work requests are kept and used again. Flags are those of {@link SendFlag}; without
 * SIGNALED, and without {@code signalAll} of the queue pair, a request has no completion. With INLINE the bytes are
 * taken before the call returns, from any memory, and the region is not looked at and may be null.
 */
public final class RdmaVerbs {
  /** The Q_Key of datagrams by {@link #postUdSend} ({@code RDMA_UDP_QKEY}). */
  public static final int UDP_QKEY = 0x01234567;

  /** A request that nobody uses. Who finds none makes one, so this is no lock. */
  private static final AtomicReference<SendWorkRequest> SEND = new AtomicReference<>();

  private static final AtomicReference<ReceiveWorkRequest> RECEIVE = new AtomicReference<>();

  private RdmaVerbs() {}

  /**
   * Registers memory for sends and receives ({@code rdma_reg_msgs}).
   *
   * @param id whose domain is meant
   * @param memory native memory whose arena is not confined to a thread
   * @return the region; {@link MemoryRegion#close} ends it ({@code rdma_dereg_mr})
   * @throws VerbsException what {@link RdmaCmId#domain} and {@code registerMemory} of its domain throw
   */
  public static MemoryRegion registerMessages(RdmaCmId id, MemorySegment memory) {
    return id.domain().registerMemory(memory, Access.LOCAL_WRITE);
  }

  /**
   * Registers memory that the peer may read ({@code rdma_reg_read}).
   *
   * @param id whose domain is meant
   * @param memory native memory whose arena is not confined to a thread
   * @return the region
   * @throws VerbsException as {@link #registerMessages}
   */
  public static MemoryRegion registerRead(RdmaCmId id, MemorySegment memory) {
    return id.domain().registerMemory(memory, Access.LOCAL_WRITE, Access.REMOTE_READ);
  }

  /**
   * Registers memory that the peer may write ({@code rdma_reg_write}).
   *
   * @param id whose domain is meant
   * @param memory native memory whose arena is not confined to a thread
   * @return the region
   * @throws VerbsException as {@link #registerMessages}
   */
  public static MemoryRegion registerWrite(RdmaCmId id, MemorySegment memory) {
    return id.domain().registerMemory(memory, Access.LOCAL_WRITE, Access.REMOTE_WRITE);
  }

  /**
   * Posts a receive ({@code rdma_post_recv}), to the shared receive queue where the queue pair has one.
   *
   * @param id the identifier
   * @param wrId what the completion carries
   * @param buffer where the message goes
   * @param region what the buffer is within
   * @throws VerbsException EINVAL where it is not; what {@link QueuePair#postReceive} throws
   */
  public static void postReceive(RdmaCmId id, long wrId, MemorySegment buffer, MemoryRegion region) {
    long address = Sge.addressOf(buffer, region);
    ReceiveWorkRequest request = receive(wrId).addSge(address, Sge.lengthOf(buffer), region.lkey());
    post(id, request);
  }

  /**
   * Posts a receive into several pieces ({@code rdma_post_recvv}).
   *
   * @param id the identifier
   * @param wrId what the completion carries
   * @param pieces where the message goes, in their order; may be none
   * @throws VerbsException what {@link QueuePair#postReceive} throws
   */
  public static void postReceivev(RdmaCmId id, long wrId, Sge... pieces) {
    ReceiveWorkRequest request = receive(wrId);
    for (Sge each : pieces) {
      request.addSge(each.address(), each.length(), each.lkey());
    }
    post(id, request);
  }

  /**
   * Posts a SEND ({@code rdma_post_send}).
   *
   * @param id the identifier
   * @param wrId what the completion carries
   * @param data the message
   * @param region what it is within; null with INLINE
   * @param flags of the request
   * @throws VerbsException EINVAL where it is not; what {@link QueuePair#postSend} throws
   */
  public static void postSend(RdmaCmId id, long wrId, MemorySegment data, MemoryRegion region, int flags) {
    post(id, with(data, region, send(WrOpcode.SEND, wrId, flags)));
  }

  /**
   * Posts a SEND of several pieces ({@code rdma_post_sendv}).
   *
   * @param id the identifier
   * @param wrId what the completion carries
   * @param flags of the request
   * @param pieces the message; may be none
   * @throws VerbsException what {@link QueuePair#postSend} throws
   */
  public static void postSendv(RdmaCmId id, long wrId, int flags, Sge... pieces) {
    post(id, with(pieces, send(WrOpcode.SEND, wrId, flags)));
  }

  /**
   * Posts an RDMA READ ({@code rdma_post_read}).
   *
   * @param id the identifier
   * @param wrId what the completion carries
   * @param buffer where the bytes go
   * @param region what the buffer is within
   * @param flags of the request
   * @param remoteAddress where they are at the peer
   * @param rkey key of the peer's region
   * @throws VerbsException EINVAL where the buffer is not within the region; what {@link QueuePair#postSend} throws
   */
  public static void postRead(
      RdmaCmId id, long wrId, MemorySegment buffer, MemoryRegion region, int flags, long remoteAddress, int rkey) {
    post(id, with(buffer, region, send(WrOpcode.RDMA_READ, wrId, flags).remoteAddress(remoteAddress).rkey(rkey)));
  }

  /**
   * Posts an RDMA READ into several pieces ({@code rdma_post_readv}).
   *
   * @param id the identifier
   * @param wrId what the completion carries
   * @param flags of the request
   * @param remoteAddress where the bytes are at the peer
   * @param rkey key of the peer's region
   * @param pieces where they go; may be none
   * @throws VerbsException what {@link QueuePair#postSend} throws
   */
  public static void postReadv(
      RdmaCmId id, long wrId, int flags, long remoteAddress, int rkey, Sge... pieces) {
    post(id, with(pieces, send(WrOpcode.RDMA_READ, wrId, flags).remoteAddress(remoteAddress).rkey(rkey)));
  }

  /**
   * Posts an RDMA WRITE ({@code rdma_post_write}).
   *
   * @param id the identifier
   * @param wrId what the completion carries
   * @param data the bytes
   * @param region what they are within; null with INLINE
   * @param flags of the request
   * @param remoteAddress where they go at the peer
   * @param rkey key of the peer's region
   * @throws VerbsException EINVAL where the data is not within the region; what {@link QueuePair#postSend} throws
   */
  public static void postWrite(
      RdmaCmId id, long wrId, MemorySegment data, MemoryRegion region, int flags, long remoteAddress, int rkey) {
    post(id, with(data, region, send(WrOpcode.RDMA_WRITE, wrId, flags).remoteAddress(remoteAddress).rkey(rkey)));
  }

  /**
   * Posts an RDMA WRITE of several pieces ({@code rdma_post_writev}).
   *
   * @param id the identifier
   * @param wrId what the completion carries
   * @param flags of the request
   * @param remoteAddress where the bytes go at the peer
   * @param rkey key of the peer's region
   * @param pieces the bytes; may be none
   * @throws VerbsException what {@link QueuePair#postSend} throws
   */
  public static void postWritev(
      RdmaCmId id, long wrId, int flags, long remoteAddress, int rkey, Sge... pieces) {
    post(id, with(pieces, send(WrOpcode.RDMA_WRITE, wrId, flags).remoteAddress(remoteAddress).rkey(rkey)));
  }

  /**
   * Posts a datagram with {@link #UDP_QKEY} ({@code rdma_post_ud_send}).
   *
   * @param id the identifier
   * @param wrId what the completion carries
   * @param data the message
   * @param region what it is within; null with INLINE
   * @param flags of the request
   * @param way to the peer
   * @param remoteQpn the peer's queue pair, 24 bits
   * @throws VerbsException EINVAL where the data is not within the region; what {@link QueuePair#postSend} throws
   */
  public static void postUdSend(
      RdmaCmId id, long wrId, MemorySegment data, MemoryRegion region, int flags, AddressHandle way, int remoteQpn) {
    SendWorkRequest request = send(WrOpcode.SEND, wrId, flags).ah(way).remoteQpn(remoteQpn).remoteQkey(UDP_QKEY);
    post(id, with(data, region, request));
  }

  /**
   * Waits for completions of the send queue ({@code rdma_get_send_comp}). The completion queue must have a channel,
   * without handler, and no other thread may take events of that channel; events of other queues that come through it
   * meanwhile are taken and not told.
   *
   * @param id the identifier
   * @param batch filled from index 0; no element may be null. One element gives one completion, as in C
   * @param timeout how long to wait; zero to look only; null to wait for ever
   * @return how many there are, 0 where the time was over first; each has its own status
   * @throws VerbsException EINVAL without completion queue or channel; EBUSY where the channel has a handler; ECANCELED
   *     when interrupted; EIO after removal of the device when all completions were taken
   */
  public static int sendCompletion(RdmaCmId id, WorkCompletion[] batch, Duration timeout) {
    return await(id, qp(id).sendCq(), batch, timeout);
  }

  /**
   * Waits for completions of the receive queue ({@code rdma_get_recv_comp}), as {@link #sendCompletion} does.
   *
   * @param id the identifier
   * @param batch filled from index 0; no element may be null
   * @param timeout how long to wait; zero to look only; null to wait for ever
   * @return how many there are, 0 where the time was over first; each has its own status
   * @throws VerbsException as {@link #sendCompletion}
   */
  public static int receiveCompletion(RdmaCmId id, WorkCompletion[] batch, Duration timeout) {
    return await(id, qp(id).recvCq(), batch, timeout);
  }

  private static int await(RdmaCmId id, CompletionQueue cq, WorkCompletion[] batch, Duration timeout) {
    if (cq == null || cq.channel() == null) {
      throw new VerbsException(
          Errno.EINVAL, (cq == null ? qp(id) + " has no completion queue" : cq + " has no channel") + " to wait for");
    }
    long start = System.nanoTime();
    while (true) {
      int found = cq.poll(batch);
      if (found != 0) {
        return found;
      }
      try {
        if (!awaitEvent(cq, timeout, start)) {
          return cq.poll(batch);
        }
      } catch (VerbsException e) {
        // Arming and waiting end with the device; what it has completed can be polled all the same.
        found = e.errno() == Errno.EIO ? cq.poll(batch) : 0;
        if (found != 0) {
          return found;
        }
        throw e;
      }
    }
  }

  /** Arms, looks whether something came before that, and only then waits. False where the time was over first. */
  private static boolean awaitEvent(CompletionQueue cq, Duration timeout, long start) {
    if (cq.requestNotify(CqNotify.NEXT_COMP, true)) {
      return true;
    }
    Duration left = timeout == null ? null : timeout.minusNanos(System.nanoTime() - start);
    return cq.channel().getEvent(left != null && left.isNegative() ? Duration.ZERO : left) != null;
  }

  private static QueuePair qp(RdmaCmId id) {
    QueuePair qp = id.qp();
    if (qp == null) {
      throw new VerbsException(Errno.EINVAL, id + " has no queue pair");
    }
    return qp;
  }

  private static ReceiveWorkRequest receive(long wrId) {
    ReceiveWorkRequest kept = RECEIVE.getAndSet(null);
    return (kept == null ? new ReceiveWorkRequest() : kept).wrId(wrId);
  }

  private static void post(RdmaCmId id, ReceiveWorkRequest request) {
    QueuePair qp = qp(id);
    if (qp.srq() != null) {
      qp.srq().postReceive(request);
    } else {
      qp.postReceive(request);
    }
    RECEIVE.set(request.clearSges()); // one that was refused is in the exception, so it is not used again
  }

  private static SendWorkRequest send(WrOpcode opcode, long wrId, int flags) {
    SendWorkRequest kept = SEND.getAndSet(null);
    return (kept == null ? new SendWorkRequest() : kept).opcode(opcode).wrId(wrId).flags(flags);
  }

  private static SendWorkRequest with(MemorySegment data, MemoryRegion region, SendWorkRequest request) {
    if ((request.flags() & SendFlag.INLINE) != 0) {
      return request.inlineData(data);
    }
    if (region == null) {
      throw new VerbsException(Errno.EINVAL, "data without memory region goes with the flag INLINE only");
    }
    return request.addSge(Sge.addressOf(data, region), Sge.lengthOf(data), region.lkey());
  }

  private static SendWorkRequest with(Sge[] pieces, SendWorkRequest request) {
    for (Sge each : pieces) {
      request.addSge(each.address(), each.length(), each.lkey());
    }
    return request;
  }

  private static void post(RdmaCmId id, SendWorkRequest request) {
    qp(id).postSend(request);
    SEND.set(request.clearSges().inlineData(null).ah(null));
  }
}
