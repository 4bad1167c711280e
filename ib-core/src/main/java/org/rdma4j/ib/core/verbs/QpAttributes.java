package org.rdma4j.ib.core.verbs;

import java.util.EnumSet;
import java.util.Objects;
import java.util.Set;
import org.rdma4j.roce.address.PathMtu;

/**
 * Attributes of a queue pair ({@code struct ib_qp_attr}); mutable, not safe for several threads. A setter records its
 * attribute in {@link #mask()}, which is the mask of {@code ibv_modify_qp}; setters return the object itself. What
 * {@link QueuePair#query()} gives has all attributes set that the provider knows.
 */
public final class QpAttributes {
  private final EnumSet<QpAttribute> mask = EnumSet.noneOf(QpAttribute.class);
  private QpState state;
  private QpState currentState;
  private boolean sqdAsyncNotify;
  private Set<Access> access = Set.of();
  private int pkeyIndex;
  private int port;
  private int qkey;
  private AhAttributes addressVector;
  private PathMtu pathMtu = PathMtu.MTU_256;
  private int timeout;
  private int retryCount;
  private int rnrRetry;
  private int rqPsn;
  private int maxRdAtomic;
  private AhAttributes alternatePath;
  private int minRnrTimer;
  private int sqPsn;
  private int maxDestRdAtomic;
  private MigrationState pathMigrationState = MigrationState.MIGRATED;
  private QpCapabilities capabilities;
  private int destQpNumber;
  private int rateLimit;
  private boolean sqDraining;

  /** Starts with an empty mask. */
  public QpAttributes() {}

  /**
   * Copies attributes and mask.
   *
   * @param other what to copy
   */
  public QpAttributes(QpAttributes other) {
    this.mask.addAll(other.mask);
    this.state = other.state;
    this.currentState = other.currentState;
    this.sqdAsyncNotify = other.sqdAsyncNotify;
    this.access = other.access;
    this.pkeyIndex = other.pkeyIndex;
    this.port = other.port;
    this.qkey = other.qkey;
    this.addressVector = other.addressVector;
    this.pathMtu = other.pathMtu;
    this.timeout = other.timeout;
    this.retryCount = other.retryCount;
    this.rnrRetry = other.rnrRetry;
    this.rqPsn = other.rqPsn;
    this.maxRdAtomic = other.maxRdAtomic;
    this.alternatePath = other.alternatePath;
    this.minRnrTimer = other.minRnrTimer;
    this.sqPsn = other.sqPsn;
    this.maxDestRdAtomic = other.maxDestRdAtomic;
    this.pathMigrationState = other.pathMigrationState;
    this.capabilities = other.capabilities;
    this.destQpNumber = other.destQpNumber;
    this.rateLimit = other.rateLimit;
    this.sqDraining = other.sqDraining;
  }

  void maskPsns(int mask24) {
    rqPsn &= mask24;
    sqPsn &= mask24;
  }

  /** {@return a copy of the mask: the attributes set so far} */
  public Set<QpAttribute> mask() {
    return mask.clone();
  }

  /**
   * Tells whether an attribute is set; allocates nothing.
   *
   * @param attribute which
   * @return true where it is
   */
  public boolean has(QpAttribute attribute) {
    return mask.contains(attribute);
  }

  /**
   * Takes an attribute out of the mask.
   *
   * @param attribute which
   * @return this
   */
  public QpAttributes clear(QpAttribute attribute) {
    mask.remove(attribute);
    return this;
  }

  /** {@return the next state} */
  public QpState state() {
    return state;
  }

  /**
   * Sets the next state.
   *
   * @param value the value
   * @return this
   */
  public QpAttributes state(QpState value) {
    this.state = Objects.requireNonNull(value, "state");
    mask.add(QpAttribute.STATE);
    return this;
  }

  /** {@return the state believed to be current} */
  public QpState currentState() {
    return currentState;
  }

  /**
   * Sets the state believed to be current.
   *
   * @param value the value
   * @return this
   */
  public QpAttributes currentState(QpState value) {
    this.currentState = Objects.requireNonNull(value, "currentState");
    mask.add(QpAttribute.CUR_STATE);
    return this;
  }

  /** {@return whether the end of a drain raises SQ_DRAINED} */
  public boolean sqdAsyncNotify() {
    return sqdAsyncNotify;
  }

  /**
   * Sets whether the end of a drain raises SQ_DRAINED.
   *
   * @param value the value
   * @return this
   */
  public QpAttributes sqdAsyncNotify(boolean value) {
    this.sqdAsyncNotify = value;
    mask.add(QpAttribute.EN_SQD_ASYNC_NOTIFY);
    return this;
  }

  /** {@return the rights of the peer} */
  public Set<Access> access() {
    return access;
  }

  /**
   * Sets the rights of the peer.
   *
   * @param value the value
   * @return this
   */
  public QpAttributes access(Set<Access> value) {
    this.access = Set.copyOf(value);
    mask.add(QpAttribute.ACCESS_FLAGS);
    return this;
  }

  /** {@return the index in the P_Key table} */
  public int pkeyIndex() {
    return pkeyIndex;
  }

  /**
   * Sets the index in the P_Key table.
   *
   * @param value the value
   * @return this
   */
  public QpAttributes pkeyIndex(int value) {
    this.pkeyIndex = value;
    mask.add(QpAttribute.PKEY_INDEX);
    return this;
  }

  /** {@return the port, from 1} */
  public int port() {
    return port;
  }

  /**
   * Sets the port, from 1.
   *
   * @param value the value
   * @return this
   */
  public QpAttributes port(int value) {
    this.port = value;
    mask.add(QpAttribute.PORT);
    return this;
  }

  /** {@return the Q_Key, 32 bits} */
  public int qkey() {
    return qkey;
  }

  /**
   * Sets the Q_Key, 32 bits.
   *
   * @param value the value
   * @return this
   */
  public QpAttributes qkey(int value) {
    this.qkey = value;
    mask.add(QpAttribute.QKEY);
    return this;
  }

  /** {@return the way to the peer} */
  public AhAttributes addressVector() {
    return addressVector;
  }

  /**
   * Sets the way to the peer.
   *
   * @param value the value
   * @return this
   */
  public QpAttributes addressVector(AhAttributes value) {
    this.addressVector = Objects.requireNonNull(value, "addressVector");
    mask.add(QpAttribute.AV);
    return this;
  }

  /** {@return the path MTU} */
  public PathMtu pathMtu() {
    return pathMtu;
  }

  /**
   * Sets the path MTU.
   *
   * @param value the value
   * @return this
   */
  public QpAttributes pathMtu(PathMtu value) {
    this.pathMtu = Objects.requireNonNull(value, "pathMtu");
    mask.add(QpAttribute.PATH_MTU);
    return this;
  }

  /** {@return the timeout for an acknowledgement: 4.096 us shifted left by 1 to 31; 0 for none} */
  public int timeout() {
    return timeout;
  }

  /**
   * Sets the timeout for an acknowledgement: 4.096 us shifted left by 1 to 31; 0 for none.
   *
   * @param value the value
   * @return this
   */
  public QpAttributes timeout(int value) {
    this.timeout = value;
    mask.add(QpAttribute.TIMEOUT);
    return this;
  }

  /** {@return the retries after timeout or sequence error, 0 to 7} */
  public int retryCount() {
    return retryCount;
  }

  /**
   * Sets the retries after timeout or sequence error, 0 to 7.
   *
   * @param value the value
   * @return this
   */
  public QpAttributes retryCount(int value) {
    this.retryCount = value;
    mask.add(QpAttribute.RETRY_CNT);
    return this;
  }

  /** {@return the retries after receiver-not-ready, 0 to 7, 7 for ever} */
  public int rnrRetry() {
    return rnrRetry;
  }

  /**
   * Sets the retries after receiver-not-ready, 0 to 7, 7 for ever.
   *
   * @param value the value
   * @return this
   */
  public QpAttributes rnrRetry(int value) {
    this.rnrRetry = value;
    mask.add(QpAttribute.RNR_RETRY);
    return this;
  }

  /** {@return the first packet sequence number of the peer, 24 bits} */
  public int rqPsn() {
    return rqPsn;
  }

  /**
   * Sets the first packet sequence number of the peer, 24 bits.
   *
   * @param value the value
   * @return this
   */
  public QpAttributes rqPsn(int value) {
    this.rqPsn = value;
    mask.add(QpAttribute.RQ_PSN);
    return this;
  }

  /** {@return how many own reads and atomics may be outstanding, up to max_qp_init_rd_atom} */
  public int maxRdAtomic() {
    return maxRdAtomic;
  }

  /**
   * Sets how many own reads and atomics may be outstanding, up to max_qp_init_rd_atom.
   *
   * @param value the value
   * @return this
   */
  public QpAttributes maxRdAtomic(int value) {
    this.maxRdAtomic = value;
    mask.add(QpAttribute.MAX_QP_RD_ATOMIC);
    return this;
  }

  /** {@return the alternate path} */
  public AhAttributes alternatePath() {
    return alternatePath;
  }

  /**
   * Sets the alternate path.
   *
   * @param value the value
   * @return this
   */
  public QpAttributes alternatePath(AhAttributes value) {
    this.alternatePath = Objects.requireNonNull(value, "alternatePath");
    mask.add(QpAttribute.ALT_PATH);
    return this;
  }

  /** {@return the timer code in receiver-not-ready answers, 0 to 31} */
  public int minRnrTimer() {
    return minRnrTimer;
  }

  /**
   * Sets the timer code in receiver-not-ready answers, 0 to 31.
   *
   * @param value the value
   * @return this
   */
  public QpAttributes minRnrTimer(int value) {
    this.minRnrTimer = value;
    mask.add(QpAttribute.MIN_RNR_TIMER);
    return this;
  }

  /** {@return the own first packet sequence number, 24 bits} */
  public int sqPsn() {
    return sqPsn;
  }

  /**
   * Sets the own first packet sequence number, 24 bits.
   *
   * @param value the value
   * @return this
   */
  public QpAttributes sqPsn(int value) {
    this.sqPsn = value;
    mask.add(QpAttribute.SQ_PSN);
    return this;
  }

  /** {@return how many reads and atomics of the peer may be outstanding, up to max_qp_rd_atom} */
  public int maxDestRdAtomic() {
    return maxDestRdAtomic;
  }

  /**
   * Sets how many reads and atomics of the peer may be outstanding, up to max_qp_rd_atom.
   *
   * @param value the value
   * @return this
   */
  public QpAttributes maxDestRdAtomic(int value) {
    this.maxDestRdAtomic = value;
    mask.add(QpAttribute.MAX_DEST_RD_ATOMIC);
    return this;
  }

  /** {@return the path migration state} */
  public MigrationState pathMigrationState() {
    return pathMigrationState;
  }

  /**
   * Sets the path migration state.
   *
   * @param value the value
   * @return this
   */
  public QpAttributes pathMigrationState(MigrationState value) {
    this.pathMigrationState = Objects.requireNonNull(value, "pathMigrationState");
    mask.add(QpAttribute.PATH_MIG_STATE);
    return this;
  }

  /** {@return the queue sizes} */
  public QpCapabilities capabilities() {
    return capabilities;
  }

  /**
   * Sets the queue sizes.
   *
   * @param value the value
   * @return this
   */
  public QpAttributes capabilities(QpCapabilities value) {
    this.capabilities = Objects.requireNonNull(value, "capabilities");
    mask.add(QpAttribute.CAP);
    return this;
  }

  /** {@return the queue pair number of the peer, 24 bits} */
  public int destQpNumber() {
    return destQpNumber;
  }

  /**
   * Sets the queue pair number of the peer, 24 bits.
   *
   * @param value the value
   * @return this
   */
  public QpAttributes destQpNumber(int value) {
    this.destQpNumber = value;
    mask.add(QpAttribute.DEST_QPN);
    return this;
  }

  /** {@return the rate limit in kbit/s} */
  public int rateLimit() {
    return rateLimit;
  }

  /**
   * Sets the rate limit in kbit/s.
   *
   * @param value the value
   * @return this
   */
  public QpAttributes rateLimit(int value) {
    this.rateLimit = value;
    mask.add(QpAttribute.RATE_LIMIT);
    return this;
  }

  /**
   * Sets the rights of the peer.
   *
   * @param first a right
   * @param more further rights
   * @return this
   */
  public QpAttributes access(Access first, Access... more) {
    return access(EnumSet.of(first, more));
  }

  /** {@return true where the send queue is draining; only in the answer to a query} */
  public boolean sqDraining() {
    return sqDraining;
  }

  /**
   * Sets whether the send queue is draining; for providers.
   *
   * @param value true while it drains
   * @return this
   */
  public QpAttributes sqDraining(boolean value) {
    this.sqDraining = value;
    return this;
  }
}
