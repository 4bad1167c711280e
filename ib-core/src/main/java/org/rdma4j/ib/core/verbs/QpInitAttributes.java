package org.rdma4j.ib.core.verbs;

import java.util.Objects;

/**
 * What a queue pair is to be ({@code struct ib_qp_init_attr}); mutable, not safe for several threads. Setters return
 * the object itself. Creation takes a copy.
 */
public final class QpInitAttributes {
  private final QpType type;
  private CompletionQueue sendCq;
  private CompletionQueue recvCq;
  private SharedReceiveQueue srq;
  private QpCapabilities capabilities = new QpCapabilities(1, 1, 1, 1, 0);
  private XrcDomain xrcd;
  private boolean signalAll;
  private int port = 1;
  private Object userContext;

  /**
   * Starts with one work request of one entry in each queue.
   *
   * @param type the transport service type
   */
  public QpInitAttributes(QpType type) {
    this.type = Objects.requireNonNull(type, "type");
  }

  /**
   * Copies.
   *
   * @param other what to copy
   */
  public QpInitAttributes(QpInitAttributes other) {
    this.type = other.type;
    this.sendCq = other.sendCq;
    this.recvCq = other.recvCq;
    this.srq = other.srq;
    this.capabilities = other.capabilities;
    this.xrcd = other.xrcd;
    this.signalAll = other.signalAll;
    this.port = other.port;
    this.userContext = other.userContext;
  }

  /** {@return the transport service type} */
  public QpType type() {
    return type;
  }

  /** {@return the queue for completions of sends} */
  public CompletionQueue sendCq() {
    return sendCq;
  }

  /**
   * Sets the queue for completions of sends.
   *
   * @param cq the queue
   * @return this
   */
  public QpInitAttributes sendCq(CompletionQueue cq) {
    this.sendCq = cq;
    return this;
  }

  /** {@return the queue for completions of receives} */
  public CompletionQueue recvCq() {
    return recvCq;
  }

  /**
   * Sets the queue for completions of receives.
   *
   * @param cq the queue
   * @return this
   */
  public QpInitAttributes recvCq(CompletionQueue cq) {
    this.recvCq = cq;
    return this;
  }

  /** {@return the shared receive queue, or null} */
  public SharedReceiveQueue srq() {
    return srq;
  }

  /**
   * Sets the shared receive queue.
   *
   * @param queue the queue, or null for a receive queue of its own
   * @return this
   */
  public QpInitAttributes srq(SharedReceiveQueue queue) {
    this.srq = queue;
    return this;
  }

  /** {@return the sizes asked for} */
  public QpCapabilities capabilities() {
    return capabilities;
  }

  /**
   * Sets the sizes.
   *
   * @param sizes the least the queue pair must offer
   * @return this
   */
  public QpInitAttributes capabilities(QpCapabilities sizes) {
    this.capabilities = Objects.requireNonNull(sizes, "sizes");
    return this;
  }

  /** {@return the XRC domain of a target, set by {@link XrcDomain#createQp}; else null} */
  public XrcDomain xrcd() {
    return xrcd;
  }

  QpInitAttributes xrcd(XrcDomain domain) {
    this.xrcd = domain;
    return this;
  }

  /** Takes away what an initiator of an extended reliable connection has not. */
  QpInitAttributes withoutReceives() {
    this.recvCq = null;
    this.capabilities =
        new QpCapabilities(
            capabilities.maxSendWr(), 0, capabilities.maxSendSge(), 0, capabilities.maxInlineData());
    return this;
  }

  /** {@return whether every send completes with a work completion ({@code IB_SIGNAL_ALL_WR})} */
  public boolean signalAll() {
    return signalAll;
  }

  /**
   * Sets whether every send completes with a work completion.
   *
   * @param all true for all, false for those with {@link SendFlag#SIGNALED}
   * @return this
   */
  public QpInitAttributes signalAll(boolean all) {
    this.signalAll = all;
    return this;
  }

  /** {@return the port of a queue pair of the types SMI and GSI, 1 unless set; means nothing for others} */
  public int port() {
    return port;
  }

  /**
   * Sets the port of a queue pair of the types SMI and GSI ({@code port_num}).
   *
   * @param number the port, from 1
   * @return this
   */
  public QpInitAttributes port(int number) {
    this.port = number;
    return this;
  }

  /** {@return the caller's own object ({@code qp_context}), or null} */
  public Object userContext() {
    return userContext;
  }

  /**
   * Sets the caller's own object.
   *
   * @param object any, or null
   * @return this
   */
  public QpInitAttributes userContext(Object object) {
    this.userContext = object;
    return this;
  }
}
