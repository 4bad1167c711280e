package org.rdma4j.ib.core.verbs;

/**
 * A handle of an XRC domain ({@code struct ib_xrcd}, {@code ibv_open_xrcd}): what the shared receive queues and the
 * targets of extended reliable connections have in common. Those who open the same name share one domain, which ends
 * with the last of their handles; each handle is pinned by what was made or opened through it. Safe for any thread.
 */
public final class XrcDomain extends VerbsObject {
  private final XrcRegistry.Domain domain;

  XrcDomain(ObjectContext owner, XrcRegistry.Domain domain) {
    super(owner, ObjectKind.XRC_DOMAIN);
    this.domain = domain;
  }

  /** {@return the provider's number of the domain, the same for all who share it} */
  public int number() {
    return domain.number();
  }

  /** {@return the name it was opened by, or null for one that is not shared} */
  public String name() {
    return domain.name();
  }

  /**
   * Makes a target queue pair in RESET ({@code ibv_create_qp_ex} of type XRC_RECV). It has neither queues nor a
   * protection domain of its own, and lives until the last handle of it is destroyed: that which this gives, and those
   * which {@link #openQp} gives.
   *
   * @param attributes of type XRC_TGT; only its user context is looked at; copied
   * @return a handle
   * @throws VerbsException EINVAL for another type; ENOMEM at max_qp; ENODEV, EIO
   */
  public QueuePair createQp(QpInitAttributes attributes) {
    if (attributes.type() != QpType.XRC_TGT) {
      throw new VerbsException(
          Errno.EINVAL, "queue pairs of type " + attributes.type() + " are made by a protection domain, not " + this);
    }
    QpInitAttributes init = new QpInitAttributes(attributes).xrcd(this);
    XrcTarget target = XrcTarget.create(domain, context(), init);
    boolean opened = false;
    try {
      QueuePair handle = open(target, init);
      opened = true;
      return handle;
    } finally {
      if (!opened) {
        target.destroyUnlessOpen();
      }
    }
  }

  /**
   * Opens a target queue pair that somebody has made in the domain ({@code ibv_open_qp}). State and attributes are
   * shared, events go to every handle.
   *
   * @param number its queue pair number
   * @param userContext the caller's own object, or null
   * @return a handle
   * @throws VerbsException EINVAL where the domain has no target of the number; ENODEV, EIO
   */
  public QueuePair openQp(int number, Object userContext) {
    XrcTarget target = domain.target(number);
    if (target == null) {
      throw new VerbsException(Errno.EINVAL, this + " has no target queue pair of number " + number);
    }
    return open(target, new QpInitAttributes(QpType.XRC_TGT).userContext(userContext).xrcd(this));
  }

  private QueuePair open(XrcTarget target, QpInitAttributes init) {
    ObjectContext owner = new ObjectContext(context(), ObjectKind.QUEUE_PAIR_HANDLE, this).with(init);
    return deviceState().create(owner, QueuePair.class, () -> target.open(owner));
  }

  @Override
  void providerDestroy() {
    domain.close();
  }
}
