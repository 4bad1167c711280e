package org.rdma4j.ib.core.verbs;

import org.osgi.annotation.versioning.ProviderType;

/**
 * Receives shared by queue pairs ({@code struct ib_srq}, {@code ibv_create_srq}). The control path is safe for any
 * thread; posting by one thread at a time unless the provider says more.
 */
@ProviderType
public abstract class SharedReceiveQueue extends VerbsObject {
  private final int srqNumber;

  /**
   * For providers.
   *
   * @param owner what {@link IbDevice#createSrq} was given
   * @param srqNumber the device's own number of the queue
   */
  protected SharedReceiveQueue(ObjectContext owner, int srqNumber) {
    super(owner, ObjectKind.SHARED_RECEIVE_QUEUE);
    this.srqNumber = srqNumber;
  }

  /** {@return the device's own number of the queue ({@code ibv_get_srq_num})} */
  public final int srqNumber() {
    return srqNumber;
  }

  /** {@return the type} */
  public final SrqType type() {
    return owner().srq().type();
  }

  /** {@return the XRC domain, or null for other types} */
  public final XrcDomain xrcd() {
    return owner().srq().xrcd();
  }

  /** {@return the queue for completions of its receives, of the type XRC; else null} */
  public final CompletionQueue cq() {
    return owner().srq().cq();
  }

  /** {@return the protection domain} */
  public final ProtectionDomain protectionDomain() {
    return owner().protectionDomain();
  }

  /**
   * Posts a chain of receives; goes straight to the provider.
   *
   * @param chain the first request
   * @throws PostException EINVAL for too many entries, ENOMEM when full, EIO after removal of the device; requests
   *     before the bad one stay posted
   */
  public abstract void postReceive(ReceiveWorkRequest chain);

  /**
   * Arms the limit event ({@code ibv_modify_srq} with {@code IBV_SRQ_LIMIT}).
   *
   * @param limit below how many receives SRQ_LIMIT_REACHED is raised once; 0 disarms
   * @throws VerbsException EINVAL beyond the size of the queue, EIO after removal of the device
   */
  public final void modifyLimit(int limit) {
    call(
        "modify_srq",
        () -> {
          int max = doQuery().maxWr();
          if (limit < 0 || limit > max) {
            throw new VerbsException(Errno.EINVAL, "limit " + limit + " of " + this + " is not between 0 and " + max);
          }
          doModifyLimit(limit);
          return null;
        });
  }

  /**
   * Changes the size ({@code ibv_modify_srq} with {@code IBV_SRQ_MAX_WR}).
   *
   * @param maxWr receives outstanding, 1 to max_srq_wr
   * @throws VerbsException EOPNOTSUPP where the device cannot, EINVAL beyond its limit or below what is posted, EIO
   *     after removal of the device
   */
  public final void resize(int maxWr) {
    call(
        "resize_srq",
        () -> {
          QpRules.checkSrqSize(maxWr, context().attributes(), deviceState().name());
          doResize(maxWr);
          return null;
        });
  }

  /**
   * Queries the queue ({@code ibv_query_srq}).
   *
   * @return its size and the armed limit
   * @throws VerbsException EIO after removal of the device
   */
  public final SrqAttributes query() {
    return call("query_srq", this::doQuery);
  }

  /**
   * Provider: arms or disarms the limit.
   *
   * @param limit 0 to the size of the queue
   */
  protected abstract void doModifyLimit(int limit);

  /**
   * Provider: changes the size; EOPNOTSUPP unless overridden.
   *
   * @param maxWr 1 to max_srq_wr
   */
  protected void doResize(int maxWr) {
    throw new VerbsException(Errno.EOPNOTSUPP, deviceState().name() + " cannot resize shared receive queues");
  }

  /** {@return provider: the size and the armed limit} */
  protected abstract SrqAttributes doQuery();

  /**
   * Provider: ends the queue; no queue pair uses it any more. Receives still posted vanish without completion.
   *
   * @throws VerbsException where the device refuses; the queue stays
   */
  protected abstract void doDestroy();

  /**
   * Provider: reports an event of the queue, from any thread; does not block.
   *
   * @param type SRQ_ERR or SRQ_LIMIT_REACHED
   */
  protected final void raise(AsyncEventType type) {
    context().raise(type, this, 0);
  }

  @Override
  final void providerDestroy() {
    doDestroy();
  }
}
