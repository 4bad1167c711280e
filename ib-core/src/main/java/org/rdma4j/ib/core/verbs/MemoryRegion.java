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
    return mapped == null ? owner().iova() : mapped.iova();
  }

  /** {@return bytes; of what was mapped last} */
  public final long length() {
    MrMapping mapped = mapping;
    if (mapped != null) {
      return mapped.length();
    }
    return type == MrType.MEM_REG ? 0 : owner().segment().byteSize();
  }

  /** {@return the memory; null for a region of type MEM_REG} */
  public final MemorySegment segment() {
    return owner().segment();
  }

  /** {@return the rights; none for a region of type MEM_REG, whose rights come with each registration} */
  public final Set<Access> access() {
    return owner().access();
  }

  /** {@return the protection domain} */
  public final ProtectionDomain protectionDomain() {
    return owner().protectionDomain();
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
        () -> {
          keys(Rkeys.withTag(lkey, tag), Rkeys.withTag(rkey, tag));
          return null;
        });
  }

  private void checkType(MrType needed, String what) {
    if (type != needed) {
      throw new VerbsException(Errno.EINVAL, "cannot " + what + " " + this + ": it is of type " + type);
    }
  }

  private void keys(int newLkey, int newRkey) {
    lkey = newLkey;
    rkey = newRkey;
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
