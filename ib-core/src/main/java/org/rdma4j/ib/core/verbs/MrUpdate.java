package org.rdma4j.ib.core.verbs;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;

/**
 * What a re-registration changes ({@code ibv_rereg_mr}): what was set is the mask, all else stays as it is. Setters
 * return the object itself; not safe for several threads.
 */
public final class MrUpdate {
  private MemorySegment segment;
  private Long iova;
  private ProtectionDomain pd;
  private Set<Access> access;

  /** Makes an update that changes nothing. */
  public MrUpdate() {}

  /**
   * Changes the memory, to be found at its own address; at 0 where the rights are zero based ({@code
   * IBV_REREG_MR_CHANGE_TRANSLATION}).
   *
   * @param memory as for {@link ProtectionDomain#registerMemory(MemorySegment, Access...)}
   * @return this
   */
  public MrUpdate translation(MemorySegment memory) {
    this.segment = memory;
    this.iova = null;
    return this;
  }

  /**
   * Changes the memory and its address.
   *
   * @param memory as for {@link ProtectionDomain#registerMemory(MemorySegment, long, Set)}
   * @param address what work requests and peers use for its first byte
   * @return this
   */
  public MrUpdate translation(MemorySegment memory, long address) {
    this.segment = memory;
    this.iova = address;
    return this;
  }

  /**
   * Changes the protection domain ({@code IBV_REREG_MR_CHANGE_PD}).
   *
   * @param domain one of the same context
   * @return this
   */
  public MrUpdate protectionDomain(ProtectionDomain domain) {
    this.pd = domain;
    return this;
  }

  /**
   * Changes the rights ({@code IBV_REREG_MR_CHANGE_ACCESS}).
   *
   * @param rights all there shall be
   * @return this
   */
  public MrUpdate access(Access... rights) {
    EnumSet<Access> set = EnumSet.noneOf(Access.class);
    set.addAll(Arrays.asList(rights));
    this.access = Set.copyOf(set);
    return this;
  }

  boolean isEmpty() {
    return segment == null && pd == null && access == null;
  }

  /** What there is after the update. */
  Registration of(Registration now) {
    Set<Access> rights = access == null ? now.access() : access;
    MemorySegment memory = segment == null ? now.segment() : segment;
    long address = now.iova();
    if (iova != null) {
      address = iova;
    } else if (segment != null) {
      address = rights.contains(Access.ZERO_BASED) ? 0 : segment.address();
    }
    return new Registration(pd == null ? now.pd() : pd, memory, address, rights);
  }

  /** Everything that a region of type USER is. */
  record Registration(ProtectionDomain pd, MemorySegment segment, long iova, Set<Access> access) {}
}
