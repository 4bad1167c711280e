package org.rdma4j.ib.core.verbs;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;
import org.osgi.annotation.versioning.ProviderType;

/**
 * A protection domain ({@code struct ib_pd}, {@code ibv_alloc_pd}): what its regions and queue pairs share and nobody
 * else has. Safe for any thread.
 */
@ProviderType
public abstract class ProtectionDomain extends VerbsObject {
  /**
   * For providers.
   *
   * @param owner what {@link IbDevice#createPd} was given
   */
  protected ProtectionDomain(ObjectContext owner) {
    super(owner, ObjectKind.PROTECTION_DOMAIN);
  }

  /** {@return the local key for all local memory, for kernel style users of devices that have one; else 0} */
  public int localDmaLkey() {
    return 0;
  }

  /**
   * Registers memory at its own address; with {@link Access#ZERO_BASED} at 0 ({@code ibv_reg_mr}).
   *
   * @param segment native memory whose arena is not confined to a thread
   * @param access the rights; none means local read only
   * @return the region
   * @throws VerbsException EINVAL for a heap or confined segment, an empty one, a closed arena, remote write or atomic
   *     rights without LOCAL_WRITE; EACCES for write rights on read-only memory; ENOMEM at max_mr; ENODEV, EIO
   */
  public final MemoryRegion registerMemory(MemorySegment segment, Access... access) {
    Set<Access> rights = EnumSet.noneOf(Access.class);
    rights.addAll(Arrays.asList(access));
    return registerMemory(segment, rights.contains(Access.ZERO_BASED) ? 0 : segment.address(), rights);
  }

  /**
   * Registers memory at an address of the caller's choice ({@code ibv_reg_mr_iova}).
   *
   * @param segment native memory whose arena is not confined to a thread
   * @param iova the address that work requests and peers use for its first byte
   * @param access the rights
   * @return the region
   * @throws VerbsException as {@link #registerMemory(MemorySegment, Access...)}
   */
  public final MemoryRegion registerMemory(MemorySegment segment, long iova, Set<Access> access) {
    Set<Access> rights = Set.copyOf(access);
    MemoryRules.check(segment, iova, rights, context().attributes());
    ObjectContext owner =
        new ObjectContext(context(), ObjectKind.MEMORY_REGION, this).in(this).with(segment, iova, rights);
    return deviceState()
        .create(owner, MemoryRegion.class, () -> provider().registerMr(owner, segment, iova, rights));
  }

  /**
   * Makes a memory region without memory, for fast registration ({@code ib_alloc_mr} of type MEM_REG).
   *
   * @param maxPages pages that can be mapped at once, 1 to max_fast_reg_page_list_len
   * @return the region; it is free, see {@link MemoryRegion#map}
   * @throws VerbsException EOPNOTSUPP where the device has no fast registration; EINVAL for a number out of range;
   *     ENOMEM at max_mr; ENODEV, EIO
   */
  public final MemoryRegion allocateMr(int maxPages) {
    MemoryRules.checkPages(maxPages, context().attributes(), deviceState().name());
    ObjectContext owner =
        new ObjectContext(context(), ObjectKind.MEMORY_REGION, this).in(this).withPages(maxPages);
    return deviceState().create(owner, MemoryRegion.class, () -> provider().allocateMr(owner, maxPages));
  }

  /**
   * Makes a memory window that is not bound ({@code ibv_alloc_mw}).
   *
   * @param type its type
   * @return the window
   * @throws VerbsException EOPNOTSUPP where the device has no windows of the type; ENOMEM at max_mw; ENODEV, EIO
   */
  public final MemoryWindow allocateMw(MwType type) {
    MemoryRules.check(type, context().attributes(), deviceState().name());
    ObjectContext owner = new ObjectContext(context(), ObjectKind.MEMORY_WINDOW, this).in(this);
    return deviceState().create(owner, MemoryWindow.class, () -> provider().allocateMw(owner, type));
  }

  /**
   * Makes a queue pair in RESET ({@code ibv_create_qp}). An initiator of an extended reliable connection has no receive
   * side, so nothing is looked at there; a target is made by {@link XrcDomain#createQp}.
   *
   * @param attributes what it is to be; copied
   * @return the queue pair, whose {@link QueuePair#capabilities()} may exceed what was asked
   * @throws VerbsException EINVAL for a missing or foreign completion queue or sizes beyond the device's limits;
   *     EOPNOTSUPP for a type the device does not know; EBUSY where the port has its queue pair of the type SMI or GSI;
   *     ENOMEM at max_qp; ENODEV, EIO
   */
  public final QueuePair createQp(QpInitAttributes attributes) {
    QpInitAttributes init = new QpInitAttributes(attributes);
    if (init.type() == QpType.XRC_INI) {
      init.withoutReceives();
    }
    QpRules.checkCreate(init, this);
    ObjectContext owner =
        new ObjectContext(context(), ObjectKind.QUEUE_PAIR, QpRules.parents(init, this)).in(this).with(init);
    deviceState().managementQps().claim(init, deviceState().name());
    boolean made = false;
    try {
      QueuePair qp =
          deviceState()
              .create(owner, QueuePair.class, () -> provider().createQp(owner, new QpInitAttributes(init)));
      made = true;
      return qp;
    } finally {
      if (!made) {
        deviceState().managementQps().release(init);
      }
    }
  }

  /**
   * Makes a shared receive queue ({@code ibv_create_srq}).
   *
   * @param attributes what it is to be
   * @return the queue
   * @throws VerbsException EINVAL for sizes beyond the device's limits, or for the type XRC without a domain and a
   *     completion queue of this context; EOPNOTSUPP; ENOMEM at max_srq; ENODEV, EIO
   */
  public final SharedReceiveQueue createSrq(SrqInitAttributes attributes) {
    QpRules.checkCreate(attributes, this);
    VerbsObject[] parents =
        attributes.type() == SrqType.XRC
            ? new VerbsObject[] {this, attributes.xrcd(), attributes.cq()}
            : new VerbsObject[] {this};
    ObjectContext owner =
        new ObjectContext(context(), ObjectKind.SHARED_RECEIVE_QUEUE, parents).in(this).with(attributes);
    return deviceState().create(owner, SharedReceiveQueue.class, () -> provider().createSrq(owner, attributes));
  }

  /**
   * Makes an address handle ({@code ibv_create_ah}). It holds the slot of its source GID.
   *
   * @param attributes the way to the peer
   * @return the handle
   * @throws VerbsException EINVAL for a port, source index or field out of range or a missing GID on a RoCE port;
   *     ENOMEM at max_ah; ENODEV, EIO
   */
  public final AddressHandle createAh(AhAttributes attributes) {
    GidCache.Hold source = deviceState().holdSource(attributes, "an address handle");
    boolean made = false;
    try {
      AhAttributes resolved = attributes.withSourceGid(source.entry());
      ObjectContext owner =
          new ObjectContext(context(), ObjectKind.ADDRESS_HANDLE, this).in(this).with(resolved, source);
      AddressHandle handle =
          deviceState().create(owner, AddressHandle.class, () -> provider().createAh(owner, resolved));
      made = true;
      return handle;
    } finally {
      if (!made) {
        source.release();
      }
    }
  }

  /**
   * Provider: ends the domain; nothing uses it any more.
   *
   * @throws VerbsException where the device refuses; the domain stays
   */
  protected abstract void doDestroy();

  private IbDevice provider() {
    return deviceState().provider();
  }

  @Override
  final void providerDestroy() {
    doDestroy();
  }
}
