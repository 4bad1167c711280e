package org.rdma4j.ib.core.verbs;

/**
 * A receive work request ({@code struct ib_recv_wr}): reusable, mutable, setters return the object itself; not safe for
 * several threads. Posting copies it, so it may be changed and posted again at once; reuse allocates nothing.
 */
public final class ReceiveWorkRequest {
  private final SgeList sges = new SgeList();
  private long wrId;
  private ReceiveWorkRequest next;

  /** Makes a request without buffers. */
  public ReceiveWorkRequest() {}

  /** {@return the identifier that the completion carries} */
  public long wrId() {
    return wrId;
  }

  /**
   * Sets the identifier.
   *
   * @param id any value
   * @return this
   */
  public ReceiveWorkRequest wrId(long id) {
    this.wrId = id;
    return this;
  }

  /**
   * Adds a buffer.
   *
   * @param address the address
   * @param length bytes, unsigned 32 bits
   * @param lkey the key of a region with LOCAL_WRITE
   * @return this
   */
  public ReceiveWorkRequest addSge(long address, int length, int lkey) {
    sges.add(address, length, lkey);
    return this;
  }

  /**
   * Takes all buffers away.
   *
   * @return this
   */
  public ReceiveWorkRequest clearSges() {
    sges.clear();
    return this;
  }

  /** {@return how many buffers there are} */
  public int sgeCount() {
    return sges.count();
  }

  /**
   * Address of a buffer.
   *
   * @param index 0 to {@link #sgeCount()} - 1
   * @return the address
   */
  public long sgeAddress(int index) {
    return sges.address(index);
  }

  /**
   * Length of a buffer.
   *
   * @param index 0 to {@link #sgeCount()} - 1
   * @return bytes, unsigned 32 bits
   */
  public int sgeLength(int index) {
    return sges.length(index);
  }

  /**
   * Key of a buffer.
   *
   * @param index 0 to {@link #sgeCount()} - 1
   * @return the local key
   */
  public int sgeLkey(int index) {
    return sges.lkey(index);
  }

  /** {@return the request that is posted after this one, or null} */
  public ReceiveWorkRequest next() {
    return next;
  }

  /**
   * Chains another request after this one.
   *
   * @param request the request, or null to end the chain
   * @return this
   */
  public ReceiveWorkRequest next(ReceiveWorkRequest request) {
    this.next = request;
    return this;
  }
}
