package org.rdma4j.ib.core.verbs;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Set;

/**
 * What the core tells a provider about an object to be made, and hands to the constructor of the object's base class:
 * the owner and the parents, which are pinned from now until the object is destroyed ({@code struct ib_uobject} and the
 * fields that {@code verbs.c} fills in). One context makes one object. Safe for any thread.
 */
public final class ObjectContext {
  private final Context context;
  private final ObjectKind kind;
  private volatile List<VerbsObject> parents;
  private final long sequence;
  private final CreationSite site;
  private ProtectionDomain pd;
  private CqInitAttributes cq;
  private QpInitAttributes qp;
  private SrqInitAttributes srq;
  private AhAttributes ah;
  private GidCache.Hold source;
  private MemorySegment segment;
  private long iova;
  private Set<Access> access = Set.of();
  private int maxPages;
  private volatile VerbsObject object;

  ObjectContext(Context context, ObjectKind kind, VerbsObject... parents) {
    this.context = context;
    this.kind = kind;
    this.parents = List.of(parents);
    this.sequence = context.state().nextSequence();
    this.site = context.creationSite();
  }

  /** {@return the context that the object will belong to} */
  public Context context() {
    return context;
  }

  /** {@return the name of the device} */
  public String deviceName() {
    return context.state().name();
  }

  /** {@return the protection domain the object will belong to, or null for kinds without} */
  public ProtectionDomain protectionDomain() {
    return pd;
  }

  ObjectKind kind() {
    return kind;
  }

  /** Who made the object, or null where that is not noted. */
  CreationSite site() {
    return site;
  }

  long sequence() {
    return sequence;
  }

  VerbsObject object() {
    return object;
  }

  ObjectContext in(ProtectionDomain domain) {
    this.pd = domain;
    return this;
  }

  ObjectContext with(CqInitAttributes attributes) {
    this.cq = attributes;
    return this;
  }

  ObjectContext with(QpInitAttributes attributes) {
    this.qp = attributes;
    return this;
  }

  ObjectContext with(SrqInitAttributes attributes) {
    this.srq = attributes;
    return this;
  }

  ObjectContext with(AhAttributes attributes, GidCache.Hold hold) {
    this.ah = attributes;
    this.source = hold;
    return this;
  }

  ObjectContext with(MemorySegment memory, long address, Set<Access> rights) {
    this.segment = memory;
    this.iova = address;
    this.access = rights;
    return this;
  }

  ObjectContext withPages(int pages) {
    this.maxPages = pages;
    return this;
  }

  CqInitAttributes cq() {
    return cq;
  }

  QpInitAttributes qp() {
    return qp;
  }

  SrqInitAttributes srq() {
    return srq;
  }

  AhAttributes ah() {
    return ah;
  }

  GidCache.Hold source() {
    return source;
  }

  MemorySegment segment() {
    return segment;
  }

  long iova() {
    return iova;
  }

  Set<Access> access() {
    return access;
  }

  int maxPages() {
    return maxPages;
  }

  /** Called by the constructor of the object's base class. */
  void bind(VerbsObject made, ObjectKind madeKind) {
    if (object != null || madeKind != kind) {
      throw new IllegalStateException("this context makes one " + kind.label() + ", not another " + madeKind.label());
    }
    this.object = made;
  }

  /** Pins the parents, all or none. */
  void pinParents() {
    int pinned = 0;
    try {
      for (VerbsObject parent : parents) {
        parent.pin(this);
        pinned++;
      }
    } catch (VerbsException e) {
      parents.subList(0, pinned).forEach(parent -> parent.unpin(this));
      throw e;
    }
  }

  /** Has another parent in place of one, if the change succeeds. */
  void changeParent(VerbsObject old, VerbsObject next, Runnable change) {
    next.pin(this);
    boolean done = false;
    try {
      change.run();
      done = true;
    } finally {
      (done ? old : next).unpin(this);
    }
    parents = parents.stream().map(each -> each == old ? next : each).toList();
  }

  void unpinParents() {
    parents.forEach(parent -> parent.unpin(this));
  }

  @Override
  public String toString() {
    return kind.label() + " of " + context.state().name();
  }

  /** The user's name in messages about the parents: {@code QP 17}, or the kind alone while it is being made. */
  String label() {
    VerbsObject made = object;
    return made == null ? kind.label() + " being made" : made.label();
  }
}
