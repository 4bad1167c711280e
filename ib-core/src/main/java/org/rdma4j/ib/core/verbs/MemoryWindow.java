package org.rdma4j.ib.core.verbs;

import org.osgi.annotation.versioning.ProviderType;

/**
 * A memory window ({@code struct ib_mw}, {@code ibv_alloc_mw}): a key of its own for a part of a memory region, with
 * rights that come and go without registering anything. While it is bound, its region cannot be destroyed. Safe for any
 * thread.
 *
 * <p>A window of type 1 is bound with {@link #bind}. One of type 2 is bound by a posted {@link WrOpcode#BIND_MW} with a
 * key of the owner's choice ({@link Rkeys#increment}), serves that queue pair only, and goes back to being free by
 * {@link WrOpcode#LOCAL_INV} or a peer's SEND with invalidate on that queue pair, or with the end of the queue pair.
 */
@ProviderType
public abstract class MemoryWindow extends VerbsObject {
  private final MwType type;

  /**
   * For providers.
   *
   * @param owner what {@link IbDevice#allocateMw} was given
   * @param type the type
   */
  protected MemoryWindow(ObjectContext owner, MwType type) {
    super(owner, ObjectKind.MEMORY_WINDOW);
    this.type = type;
  }

  /** {@return the type} */
  public final MwType type() {
    return type;
  }

  /** {@return the protection domain} */
  public final ProtectionDomain protectionDomain() {
    return owner().protectionDomain();
  }

  /**
   * {@return the key: of the last bind that was executed, as its completion tells, or from allocation} A bind that is
   * posted and not executed has the key that {@link #bind} returned or the work request named.
   */
  public abstract int rkey();

  /**
   * Posts the bind of a window of type 1, also of one that is bound; with {@link MwBindInfo#UNBIND} it loses its rights
   * ({@code ibv_bind_mw}). The completion of the send queue has the opcode BIND_MW; status MW_BIND_ERR where the region
   * does not allow the bind or the range, and the window then stays as it was.
   *
   * @param qp whose send queue executes it
   * @param wrId what the completion carries
   * @param flags see {@link SendFlag}: FENCE and SIGNALED
   * @param info what to bind to
   * @return the key of the window once the bind is executed
   * @throws VerbsException EINVAL for a window of type 2, objects of another context, a zero based window, or a queue
   *     pair that cannot send; EPERM where window, region and queue pair are not of one protection domain; ENOMEM where
   *     the send queue is full; EIO after removal of the device
   */
  public final int bind(QueuePair qp, long wrId, int flags, MwBindInfo info) {
    MemoryRegion region = info.region();
    if (type != MwType.TYPE_1) {
      throw new VerbsException(Errno.EINVAL, this + " is of type 2; it is bound by a posted BIND_MW");
    }
    if (qp.context() != context() || (region != null && region.context() != context())) {
      throw new VerbsException(Errno.EINVAL, this + " is of another context than " + qp + " or " + region);
    }
    if (info.access().contains(Access.ZERO_BASED)) {
      // IBA specification o10-36.2.2.
      throw new VerbsException(Errno.EINVAL, this + " is of type 1, which cannot be zero based");
    }
    if (qp.protectionDomain() != protectionDomain()
        || (region != null && region.protectionDomain() != protectionDomain())) {
      throw new VerbsException(
          Errno.EPERM, this + ", " + qp + " and " + region + " must be of one protection domain to be bound");
    }
    return call("bind_mw", () -> doBind(qp, wrId, flags, info));
  }

  /**
   * Provider: posts the bind of a window of type 1; what it names is of one context and one protection domain.
   *
   * @param qp whose send queue executes it
   * @param wrId what the completion carries
   * @param flags see {@link SendFlag}
   * @param info what to bind to
   * @return the key of the window once the bind is executed
   * @throws VerbsException EINVAL, ENOMEM as {@link QueuePair#postSend}
   */
  protected abstract int doBind(QueuePair qp, long wrId, int flags, MwBindInfo info);

  /**
   * Provider: ends the window, bound or not; when it returns the key means nothing any more.
   *
   * @throws VerbsException where the device refuses; the window stays
   */
  protected abstract void doDestroy();

  @Override
  final void providerDestroy() {
    doDestroy();
  }
}
