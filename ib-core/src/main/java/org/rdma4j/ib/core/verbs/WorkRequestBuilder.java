package org.rdma4j.ib.core.verbs;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.osgi.annotation.versioning.ProviderType;

/**
 * Posting in the style of {@code ibv_wr_start}, {@code ibv_wr_*}, {@code ibv_wr_complete}: work requests are built
 * where the device will read them. Set the identifier and the flags, name the operation, then set its data;
 * {@link #complete()} posts all, {@link #abort()} none. One thread at a time; nothing is allocated. What is wrong is
 * remembered and thrown by {@link #complete()}, after which none of the requests is posted.
 */
@ProviderType
public interface WorkRequestBuilder {
  /** Starts a batch. */
  void start();

  /**
   * Sets the identifier of the requests that follow.
   *
   * @param id any value
   */
  void wrId(long id);

  /**
   * Sets the flags of the requests that follow.
   *
   * @param flags see {@link SendFlag}; INLINE is implied by {@link #setInlineData}
   */
  void flags(int flags);

  /** Adds a SEND. */
  void send();

  /**
   * Adds a SEND with immediate.
   *
   * @param immediate the data in host order
   */
  void sendImm(int immediate);

  /**
   * Adds a SEND with invalidate.
   *
   * @param rkey the receiver's key
   */
  void sendInv(int rkey);

  /**
   * Adds an RDMA WRITE.
   *
   * @param rkey the remote key
   * @param remoteAddress the remote address
   */
  void rdmaWrite(int rkey, long remoteAddress);

  /**
   * Adds an RDMA WRITE with immediate.
   *
   * @param rkey the remote key
   * @param remoteAddress the remote address
   * @param immediate the data in host order
   */
  void rdmaWriteImm(int rkey, long remoteAddress, int immediate);

  /**
   * Adds an RDMA READ.
   *
   * @param rkey the remote key
   * @param remoteAddress the remote address
   */
  void rdmaRead(int rkey, long remoteAddress);

  /**
   * Adds a compare and swap of 8 bytes.
   *
   * @param rkey the remote key
   * @param remoteAddress the remote address, aligned to 8
   * @param compare the value expected
   * @param swap the value to store
   */
  void atomicCmpSwp(int rkey, long remoteAddress, long compare, long swap);

  /**
   * Adds a fetch and add of 8 bytes.
   *
   * @param rkey the remote key
   * @param remoteAddress the remote address, aligned to 8
   * @param add what to add
   */
  void atomicFetchAdd(int rkey, long remoteAddress, long add);

  /**
   * Adds an atomic write ({@code ibv_wr_atomic_write}). It takes no data.
   *
   * @param rkey the remote key
   * @param remoteAddress the remote address, aligned to 8
   * @param value the 8 bytes as they lie in memory in the order of this host
   */
  void atomicWrite(int rkey, long remoteAddress, long value);

  /**
   * Adds a flush ({@code ibv_wr_flush}), see {@link SendWorkRequest#flush}. It takes no data.
   *
   * @param rkey the remote key
   * @param remoteAddress the remote address
   * @param length bytes, 0 to 2^31
   * @param placements how far, at least one
   * @param level on what
   */
  void flush(int rkey, long remoteAddress, long length, Set<FlushPlacement> placements, FlushSelectivity level);

  /**
   * Adds the bind of a memory window of type 2 ({@code ibv_wr_bind_mw}).
   *
   * @param window a window that is free
   * @param newRkey the key it shall have: its present one with other lower 8 bits, see {@link Rkeys}
   * @param info what to bind to
   */
  void bindMw(MemoryWindow window, int newRkey, MwBindInfo info);

  /**
   * Adds the registration of what is mapped to a memory region, see {@link SendWorkRequest#regMr}.
   *
   * @param memory a region of type MEM_REG that is free
   * @param key the key it shall have
   * @param access the rights
   */
  void regMr(MemoryRegion memory, int key, Set<Access> access);

  /**
   * Adds a local invalidate.
   *
   * @param rkey the key
   */
  void localInv(int rkey);

  /**
   * Gives the last request one buffer.
   *
   * @param lkey the local key
   * @param address the address
   * @param length bytes, unsigned 32 bits
   */
  void setSge(int lkey, long address, int length);

  /**
   * Gives the last request several buffers.
   *
   * @param count how many entries of the arrays to take
   * @param lkeys the local keys
   * @param addresses the addresses
   * @param lengths bytes, unsigned 32 bits
   */
  void setSgeList(int count, int[] lkeys, long[] addresses, int[] lengths);

  /**
   * Gives the last request data, copied now.
   *
   * @param data at most max_inline_data bytes
   */
  void setInlineData(MemorySegment data);

  /**
   * Gives the last request its destination (UD).
   *
   * @param handle the way there
   * @param remoteQpn the peer's queue pair
   * @param remoteQkey its Q_Key
   */
  void setUdAddr(AddressHandle handle, int remoteQpn, int remoteQkey);

  /**
   * Gives the last request the shared receive queue it is for (XRC, {@code ibv_wr_set_xrc_srqn}).
   *
   * @param srqNumber number of the peer's queue, 24 bits
   */
  void setXrcSrqn(int srqNumber);

  /**
   * Posts the batch.
   *
   * @throws VerbsException EINVAL for a rule broken, ENOMEM where the queue has no room for all, EIO after removal of
   *     the device; nothing is posted then
   */
  void complete();

  /** Drops the batch. */
  void abort();
}
