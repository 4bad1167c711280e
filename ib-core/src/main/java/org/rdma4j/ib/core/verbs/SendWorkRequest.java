package org.rdma4j.ib.core.verbs;

import java.lang.foreign.MemorySegment;
import java.util.Set;

/**
 * A send work request ({@code struct ib_send_wr} and its relatives): reusable, mutable, setters return the object
 * itself; not safe for several threads. Posting copies it, so it may be changed and posted again at once; reuse
 * allocates nothing.
 */
public final class SendWorkRequest {
  private final SgeList sges = new SgeList();
  private long wrId;
  private WrOpcode opcode = WrOpcode.SEND;
  private int flags;
  private int immediate;
  private long remoteAddress;
  private int rkey;
  private long compareAdd;
  private long swap;
  private long flushLength;
  private Set<FlushPlacement> placement = Set.of();
  private FlushSelectivity selectivity;
  private AddressHandle ah;
  private int remoteQpn;
  private int remoteQkey;
  private int xrcSrqNumber;
  private int pkeyIndex;
  private MemorySegment inlineData;
  private MemoryWindow memoryWindow;
  private MwBindInfo bindInfo;
  private MemoryRegion region;
  private Set<Access> access = Set.of();
  private SendWorkRequest next;

  /** Makes a SEND without data. */
  public SendWorkRequest() {}

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
  public SendWorkRequest wrId(long id) {
    this.wrId = id;
    return this;
  }

  /** {@return what is asked for} */
  public WrOpcode opcode() {
    return opcode;
  }

  /**
   * Sets what is asked for.
   *
   * @param operation the operation
   * @return this
   */
  public SendWorkRequest opcode(WrOpcode operation) {
    this.opcode = operation;
    return this;
  }

  /** {@return the flags, see {@link SendFlag}} */
  public int flags() {
    return flags;
  }

  /**
   * Sets the flags.
   *
   * @param value see {@link SendFlag}
   * @return this
   */
  public SendWorkRequest flags(int value) {
    this.flags = value;
    return this;
  }

  /** {@return the immediate data in host order} */
  public int immediate() {
    return immediate;
  }

  /**
   * Sets the immediate data; shares its place with the key to invalidate.
   *
   * @param data in host order
   * @return this
   */
  public SendWorkRequest immediate(int data) {
    this.immediate = data;
    return this;
  }

  /** {@return the key to invalidate} */
  public int invalidateRkey() {
    return immediate;
  }

  /**
   * Sets the key to invalidate; shares its place with the immediate data.
   *
   * @param key the receiver's key, or the own one of a local invalidate
   * @return this
   */
  public SendWorkRequest invalidateRkey(int key) {
    this.immediate = key;
    return this;
  }

  /** {@return the remote address} */
  public long remoteAddress() {
    return remoteAddress;
  }

  /**
   * Sets the remote address of a WRITE, READ or atomic.
   *
   * @param address the address
   * @return this
   */
  public SendWorkRequest remoteAddress(long address) {
    this.remoteAddress = address;
    return this;
  }

  /** {@return the remote key; of a bind or a registration, the key there shall be} */
  public int rkey() {
    return rkey;
  }

  /**
   * Sets the remote key of a WRITE, READ or atomic.
   *
   * @param key the key
   * @return this
   */
  public SendWorkRequest rkey(int key) {
    this.rkey = key;
    return this;
  }

  /** {@return the window to bind, or null} */
  public MemoryWindow memoryWindow() {
    return memoryWindow;
  }

  /** {@return what the window is bound to, or null} */
  public MwBindInfo bindInfo() {
    return bindInfo;
  }

  /**
   * Makes this the bind of a memory window of type 2, {@link WrOpcode#BIND_MW}; shares the place of its key with the
   * remote key. Where the window is bound already, or the region does not allow it, the request completes with
   * MW_BIND_ERR.
   *
   * @param window a window that is free
   * @param newRkey the key it shall have: its present one with other lower 8 bits, see {@link Rkeys}
   * @param info what to bind to
   * @return this
   */
  public SendWorkRequest bindMw(MemoryWindow window, int newRkey, MwBindInfo info) {
    this.opcode = WrOpcode.BIND_MW;
    this.memoryWindow = window;
    this.rkey = newRkey;
    this.bindInfo = info;
    return this;
  }

  /** {@return the region to register, or null} */
  public MemoryRegion region() {
    return region;
  }

  /** {@return the rights of the region to register} */
  public Set<Access> access() {
    return access;
  }

  /**
   * Makes this the registration of what is mapped to a memory region, {@link WrOpcode#REG_MR}; shares the place of its
   * key with the remote key. Where the region is registered already, the request completes with LOC_QP_OP_ERR.
   *
   * @param memory a region of type MEM_REG that is free
   * @param key the key it shall have, locally and with remote rights for peers: usually {@link MemoryRegion#rkey()},
   *     after {@link MemoryRegion#updateKey}
   * @param rights the rights
   * @return this
   */
  public SendWorkRequest regMr(MemoryRegion memory, int key, Set<Access> rights) {
    this.opcode = WrOpcode.REG_MR;
    this.region = memory;
    this.rkey = key;
    this.access = rights;
    return this;
  }

  /**
   * Makes this an atomic write, {@link WrOpcode#ATOMIC_WRITE} ({@code ibv_wr_atomic_write}); shares the place of its
   * value with {@link #compareAdd()}. It has no buffers.
   *
   * @param key the remote key
   * @param address the remote address, aligned to 8
   * @param value the 8 bytes as they lie in memory in the order of this host: a peer of the same order reads the value
   * @return this
   */
  public SendWorkRequest atomicWrite(int key, long address, long value) {
    this.opcode = WrOpcode.ATOMIC_WRITE;
    this.rkey = key;
    this.remoteAddress = address;
    this.compareAdd = value;
    return this;
  }

  /** {@return bytes that a flush works on} */
  public long flushLength() {
    return flushLength;
  }

  /** {@return how far a flush goes} */
  public Set<FlushPlacement> placement() {
    return placement;
  }

  /** {@return on what a flush works, or null} */
  public FlushSelectivity selectivity() {
    return selectivity;
  }

  /**
   * Makes this a flush, {@link WrOpcode#FLUSH} ({@code ibv_wr_flush}): everything that this queue pair has written
   * before, and everybody else before the flush is executed. It has no buffers.
   *
   * @param key the remote key, with the rights {@link Access#FLUSH_GLOBAL} or {@link Access#FLUSH_PERSISTENT}
   * @param address the remote address
   * @param length bytes, 0 to 2^31
   * @param placements how far, at least one
   * @param level on what
   * @return this
   */
  public SendWorkRequest flush(
      int key, long address, long length, Set<FlushPlacement> placements, FlushSelectivity level) {
    this.opcode = WrOpcode.FLUSH;
    this.rkey = key;
    this.remoteAddress = address;
    this.flushLength = length;
    this.placement = placements;
    this.selectivity = level;
    return this;
  }

  /** {@return the value expected by a compare and swap, or to be added, or to be written at once} */
  public long compareAdd() {
    return compareAdd;
  }

  /**
   * Sets the value expected by a compare and swap, or to be added.
   *
   * @param value the value
   * @return this
   */
  public SendWorkRequest compareAdd(long value) {
    this.compareAdd = value;
    return this;
  }

  /** {@return the value a compare and swap stores} */
  public long swap() {
    return swap;
  }

  /**
   * Sets the value a compare and swap stores.
   *
   * @param value the value
   * @return this
   */
  public SendWorkRequest swap(long value) {
    this.swap = value;
    return this;
  }

  /** {@return the way to the peer (UD), or null} */
  public AddressHandle ah() {
    return ah;
  }

  /**
   * Sets the way to the peer (UD).
   *
   * @param handle the address handle
   * @return this
   */
  public SendWorkRequest ah(AddressHandle handle) {
    this.ah = handle;
    return this;
  }

  /** {@return the peer's queue pair number (UD)} */
  public int remoteQpn() {
    return remoteQpn;
  }

  /**
   * Sets the peer's queue pair number (UD).
   *
   * @param number 24 bits
   * @return this
   */
  public SendWorkRequest remoteQpn(int number) {
    this.remoteQpn = number;
    return this;
  }

  /** {@return the peer's Q_Key (UD)} */
  public int remoteQkey() {
    return remoteQkey;
  }

  /**
   * Sets the peer's Q_Key (UD).
   *
   * @param key 32 bits; with the highest bit set the queue pair's own is sent
   * @return this
   */
  public SendWorkRequest remoteQkey(int key) {
    this.remoteQkey = key;
    return this;
  }

  /** {@return the number of the peer's shared receive queue (XRC)} */
  public int xrcSrqNumber() {
    return xrcSrqNumber;
  }

  /**
   * Sets the number of the peer's shared receive queue (XRC); every request of an initiator needs it.
   *
   * @param number what {@link SharedReceiveQueue#srqNumber()} is there, 24 bits
   * @return this
   */
  public SendWorkRequest xrcSrqNumber(int number) {
    this.xrcSrqNumber = number;
    return this;
  }

  /** {@return the index of the P_Key (GSI)} */
  public int pkeyIndex() {
    return pkeyIndex;
  }

  /**
   * Sets the index of the P_Key (GSI).
   *
   * @param index in the port's table
   * @return this
   */
  public SendWorkRequest pkeyIndex(int index) {
    this.pkeyIndex = index;
    return this;
  }

  /** {@return the data to take when posted, or null} */
  public MemorySegment inlineData() {
    return inlineData;
  }

  /**
   * Sets data that is copied when posted, in place of buffers; implies {@link SendFlag#INLINE}.
   *
   * @param data at most max_inline_data bytes, native or on the heap; null for none
   * @return this
   */
  public SendWorkRequest inlineData(MemorySegment data) {
    this.inlineData = data;
    return this;
  }

  /**
   * Adds a buffer.
   *
   * @param address the address
   * @param length bytes, unsigned 32 bits
   * @param lkey the local key; not looked at with {@link SendFlag#INLINE}
   * @return this
   */
  public SendWorkRequest addSge(long address, int length, int lkey) {
    sges.add(address, length, lkey);
    return this;
  }

  /**
   * Takes all buffers away.
   *
   * @return this
   */
  public SendWorkRequest clearSges() {
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
  public SendWorkRequest next() {
    return next;
  }

  /**
   * Chains another request after this one.
   *
   * @param request the request, or null to end the chain
   * @return this
   */
  public SendWorkRequest next(SendWorkRequest request) {
    this.next = request;
    return this;
  }
}
