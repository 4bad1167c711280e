package org.rdma4j.ib.core.verbs;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.osgi.annotation.versioning.ProviderType;

/**
 * Registered memory ({@code struct ib_mr}, {@code ibv_reg_mr}). Closing the segment's arena under a region is the
 * owner's right: accesses then end in protection errors. Safe for any thread.
 */
@ProviderType
public abstract class MemoryRegion extends VerbsObject {
  private final int lkey;
  private final int rkey;

  /**
   * For providers.
   *
   * @param owner what {@link IbDevice#registerMr} was given
   * @param lkey the local key
   * @param rkey the remote key
   */
  protected MemoryRegion(ObjectContext owner, int lkey, int rkey) {
    super(owner, ObjectKind.MEMORY_REGION);
    this.lkey = lkey;
    this.rkey = rkey;
  }

  /** {@return the key for local requests} */
  public final int lkey() {
    return lkey;
  }

  /** {@return the key for peers} */
  public final int rkey() {
    return rkey;
  }

  /** {@return the address that work requests and peers use for the first byte} */
  public final long address() {
    return owner().iova();
  }

  /** {@return bytes} */
  public final long length() {
    return owner().segment().byteSize();
  }

  /** {@return the memory} */
  public final MemorySegment segment() {
    return owner().segment();
  }

  /** {@return the rights} */
  public final Set<Access> access() {
    return owner().access();
  }

  /** {@return the protection domain} */
  public final ProtectionDomain protectionDomain() {
    return owner().protectionDomain();
  }

  /**
   * Provider: makes both keys invalid; when it returns the device does not touch the memory any more.
   *
   * @throws VerbsException where the device refuses; the region stays
   */
  protected abstract void doDestroy();

  @Override
  final void providerDestroy() {
    doDestroy();
  }
}
