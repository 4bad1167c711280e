package org.rdma4j.ib.core.verbs;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Set;
import org.osgi.annotation.versioning.ProviderType;

/**
 * Registered memory ({@code struct ib_mr}, {@code ibv_reg_mr}). Closing the segment's arena under a region is the
 * owner's right: accesses then end in protection errors. Safe for any thread.
 *
 * <p>A region of type {@link MrType#MEM_REG} is made without memory by {@link ProtectionDomain#allocateMr}. Its owner
 * maps memory with {@link #map}, chooses a fresh key with {@link #updateKey}, and posts a {@link WrOpcode#REG_MR}: then
 * the key can be used. {@link WrOpcode#LOCAL_INV}, or a peer's SEND with invalidate, makes it free for the next round.
 */
@ProviderType
public abstract class MemoryRegion extends VerbsObject {
  /** Bytes of a page where the caller names none. */
  private static final int PAGE_SIZE = 4096;

  private final MrType type;
  private volatile int lkey;
  private volatile int rkey;
  private volatile MrUpdate.Registration registration;
  private volatile MrMapping mapping;

  /**
   * For providers.
   *
   * @param owner what {@link IbDevice#registerMr} or {@link IbDevice#allocateMr} was given
   * @param lkey the local key
   * @param rkey the remote key
   */
  protected MemoryRegion(ObjectContext owner, int lkey, int rkey) {
    super(owner, ObjectKind.MEMORY_REGION);
    this.type = owner.segment() == null ? MrType.MEM_REG : MrType.USER;
    this.lkey = lkey;
    this.rkey = rkey;
    this.registration =
        new MrUpdate.Registration(owner.protectionDomain(), owner.segment(), owner.iova(), owner.access());
  }

  /** {@return the type} */
  public final MrType type() {
    return type;
  }

  /** {@return the key for local requests} */
  public final int lkey() {
    return lkey;
  }

  /** {@return the key for peers} */
  public final int rkey() {
    return rkey;
  }

  /** {@return the address that work requests and peers use for the first byte; of what was mapped last} */
  public final long address() {
    MrMapping mapped = mapping;
    return mapped == null ? registration.iova() : mapped.iova();
  }

  /** {@return bytes; of what was mapped last} */
  public final long length() {
    MrMapping mapped = mapping;
    if (mapped != null) {
      return mapped.length();
    }
    return type == MrType.MEM_REG ? 0 : registration.segment().byteSize();
  }

  /** {@return the memory; null for a region of type MEM_REG} */
  public final MemorySegment segment() {
    return registration.segment();
  }

  /** {@return the rights; none for a region of type MEM_REG, whose rights come with each registration} */
  public final Set<Access> access() {
    return registration.access();
  }

  /** {@return the protection domain} */
  public final ProtectionDomain protectionDomain() {
    return registration.pd();
  }

  /**
   * Says which memory the next {@link WrOpcode#REG_MR} registers ({@code ib_map_mr_sg}); what is registered now stays
   * until then. The address of the region becomes that of the first byte.
   *
   * <p>Every piece but the first must begin at a page boundary and every one but the last end at one, unless it goes on
   * in memory where the piece before it ended. Mapping stops at the first piece that does not, and where the pages are
   * used up; there the first pages of the next piece are mapped too, as {@link #length()} tells.
   *
   * @param pieces native memory whose arenas are not confined to a thread; at least one piece, none of them empty
   * @param offset where in the first piece to begin, 0 to its length - 1
   * @param pageSize bytes of a page, of the sizes the device has
   * @return how many pieces are mapped whole
   * @throws VerbsException EINVAL for a region of another type, memory that cannot be registered, an offset or a page
   *     size out of range; EIO after removal of the device
   */
  public final int map(List<MemorySegment> pieces, long offset, int pageSize) {
    List<MemorySegment> copy = List.copyOf(pieces);
    checkType(MrType.MEM_REG, "map");
    MemoryRules.checkPieces(copy, offset, pageSize, context().attributes());
    return call(
        "map_mr_sg",
        () -> {
          MrMapping.Result result = MrMapping.of(copy, offset, pageSize, owner().maxPages());
          doMap(result.mapping());
          mapping = result.mapping();
          return result.elements();
        });
  }

  /**
   * Maps pieces from their first byte on, with pages of 4096 bytes.
   *
   * @param pieces as for {@link #map(List, long, int)}
   * @return how many pieces are mapped whole
   * @throws VerbsException as {@link #map(List, long, int)}
   */
  public final int map(List<MemorySegment> pieces) {
    return map(pieces, 0, PAGE_SIZE);
  }

  /**
   * Changes the owner's part of both keys ({@code ib_update_fast_reg_key}); the device learns of it by the next {@link
   * WrOpcode#REG_MR}. Peers that know the key of an earlier registration cannot use the new one's memory.
   *
   * @param tag the new bits; only the lower 8 count, see {@link Rkeys}
   * @throws VerbsException EINVAL for a region of another type, EIO after removal of the device
   */
  public final void updateKey(int tag) {
    checkType(MrType.MEM_REG, "update the key of");
    call(
        "update_fast_reg_key",
        () -> {
          keys(Rkeys.withTag(lkey, tag), Rkeys.withTag(rkey, tag));
          return null;
        });
  }

  /**
   * Changes memory, protection domain or rights without giving the region up ({@code ibv_rereg_mr}). Both keys may be
   * others afterwards; they are where the memory or the domain changes, so that whoever knows the old ones does not
   * reach the new memory. Work requests under way that name an old key fail.
   *
   * @param update what to change
   * @throws VerbsException EBUSY while windows are bound to the region; EINVAL for an update of nothing, a region of
   *     another type, or a domain of another context; EINVAL, EACCES for memory and rights as {@link
   *     ProtectionDomain#registerMemory(MemorySegment, Access...)}; EOPNOTSUPP where the device cannot; EIO after
   *     removal of the device. The region is as before then.
   */
  public final void reregister(MrUpdate update) {
    checkType(MrType.USER, "re-register");
    call(
        "rereg_user_mr",
        () -> {
          MrUpdate.Registration now = registration;
          MrUpdate.Registration next = update.of(now);
          if (update.isEmpty() || next.pd().context() != context()) {
            throw new VerbsException(
                Errno.EINVAL,
                update.isEmpty()
                    ? "the update of " + this + " changes nothing"
                    : next.pd() + " is of another context than " + this);
          }
          MemoryRules.check(next.segment(), next.iova(), next.access(), context().attributes());
          if (next.pd() == now.pd()) {
            doReregister(next.pd(), next.segment(), next.iova(), next.access());
          } else {
            owner().changeParent(
                now.pd(), next.pd(), () -> doReregister(next.pd(), next.segment(), next.iova(), next.access()));
          }
          registration = next;
          return null;
        });
  }

  private void checkType(MrType needed, String what) {
    if (type != needed) {
      throw new VerbsException(Errno.EINVAL, "cannot " + what + " " + this + ": it is of type " + type);
    }
  }

  /**
   * Provider: the keys are others now.
   *
   * @param newLkey the local key
   * @param newRkey the remote key
   */
  protected final void keys(int newLkey, int newRkey) {
    lkey = newLkey;
    rkey = newRkey;
  }

  /**
   * Provider: changes what the region is, of type USER, and tells the new {@link #keys}; EOPNOTSUPP unless overridden.
   *
   * @param pd the protection domain from now on
   * @param memory the memory from now on, checked
   * @param iova the address of its first byte
   * @param access the rights
   * @throws VerbsException EBUSY while windows are bound to it, which the message names; nothing has changed then
   */
  protected void doReregister(ProtectionDomain pd, MemorySegment memory, long iova, Set<Access> access) {
    throw new VerbsException(Errno.EOPNOTSUPP, deviceState().name() + " cannot re-register memory");
  }

  /**
   * Provider: keeps what the next registration registers; EOPNOTSUPP unless overridden.
   *
   * @param memory the pieces; all native, alive and open to any thread a moment ago
   */
  protected void doMap(MrMapping memory) {
    throw new VerbsException(Errno.EOPNOTSUPP, deviceState().name() + " cannot map memory");
  }

  /**
   * Provider: makes both keys invalid; when it returns the device does not touch the memory any more.
   *
   * @throws VerbsException EBUSY while windows are bound to it, which the message names; the region stays
   */
  protected abstract void doDestroy();

  @Override
  final void providerDestroy() {
    doDestroy();
  }
}
