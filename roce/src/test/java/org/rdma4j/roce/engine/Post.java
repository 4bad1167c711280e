package org.rdma4j.roce.engine;

import java.lang.foreign.MemorySegment;
import org.rdma4j.roce.link.Route;

/** A send work request as a test posts it; signaled unless said otherwise. */
final class Post {
  final long id;
  final int opcode;
  private boolean fence;
  private boolean signaled = true;
  private boolean solicited;
  private int immediate;
  private long remoteAddress;
  private int remoteKey;
  private long compareAdd;
  private long swap;
  private int placement;
  private int xrcSrq;
  private int selectivity;
  private long flushLength;
  private Route route;
  private int remoteQp;
  private int remoteQkey;
  private int pkeyIndex;
  private final long[] addresses = new long[8];
  private final int[] lengths = new int[8];
  private final int[] keys = new int[8];
  private int pieces;
  private MemorySegment inline;
  private FailedCheck malformed = FailedCheck.NONE;

  private Post(long id, int opcode) {
    this.id = id;
    this.opcode = opcode;
  }

  static Post of(long id, int opcode) {
    return new Post(id, opcode);
  }

  static Post send(long id) {
    return of(id, WorkOpcode.SEND);
  }

  static Post write(long id, TestMemory target, long offset) {
    return of(id, WorkOpcode.RDMA_WRITE).remote(target, offset);
  }

  static Post read(long id, TestMemory target, long offset) {
    return of(id, WorkOpcode.RDMA_READ).remote(target, offset);
  }

  static Post fetchAdd(long id, TestMemory target, long offset, long addend) {
    Post post = of(id, WorkOpcode.ATOMIC_FETCH_AND_ADD).remote(target, offset);
    post.compareAdd = addend;
    return post;
  }

  static Post compareSwap(long id, TestMemory target, long offset, long compare, long swap) {
    Post post = of(id, WorkOpcode.ATOMIC_CMP_AND_SWP).remote(target, offset);
    post.compareAdd = compare;
    post.swap = swap;
    return post;
  }

  /** Writes the eight bytes of local memory that are given to it. */
  static Post atomicWrite(long id, TestMemory target, long offset) {
    return of(id, WorkOpcode.ATOMIC_WRITE).remote(target, offset);
  }

  static Post flush(long id, TestMemory target, long offset, long length, int placement) {
    Post post = of(id, WorkOpcode.FLUSH).remote(target, offset);
    post.flushLength = length;
    post.placement = placement;
    return post;
  }

  Post srq(int number) {
    xrcSrq = number;
    return this;
  }

  Post selectivity(int level) {
    selectivity = level;
    return this;
  }

  /** Adds a piece of local memory. */
  Post local(TestMemory memory, long offset, int length) {
    return sge(memory.address(offset), length, memory.key());
  }

  Post sge(long address, int length, int key) {
    addresses[pieces] = address;
    lengths[pieces] = length;
    keys[pieces++] = key;
    return this;
  }

  Post inline(MemorySegment data) {
    inline = data;
    return this;
  }

  Post remote(TestMemory target, long offset) {
    return remote(target.address(offset), target.key());
  }

  Post remote(long address, int key) {
    remoteAddress = address;
    remoteKey = key;
    return this;
  }

  Post immediate(int value) {
    immediate = value;
    return this;
  }

  Post fence() {
    fence = true;
    return this;
  }

  Post solicited() {
    solicited = true;
    return this;
  }

  Post unsignaled() {
    signaled = false;
    return this;
  }

  boolean isSignaled() {
    return signaled;
  }

  Post to(Route to, int qp, int qkey) {
    route = to;
    remoteQp = qp;
    remoteQkey = qkey;
    return this;
  }

  Post pkeyIndex(int index) {
    pkeyIndex = index;
    return this;
  }

  Post malformed(FailedCheck check) {
    malformed = check;
    return this;
  }

  void fill(SendWork work) {
    work.id = id;
    work.opcode = opcode;
    work.fence = fence;
    work.signaled = signaled;
    work.solicited = solicited;
    work.immediate = immediate;
    work.remoteAddress = remoteAddress;
    work.remoteKey = remoteKey;
    work.compareAdd = compareAdd;
    work.swap = swap;
    work.placement = placement;
    work.xrcSrq = xrcSrq;
    work.selectivity = selectivity;
    work.flushLength = flushLength;
    work.route = route;
    work.remoteQp = remoteQp;
    work.remoteQkey = remoteQkey;
    work.pkeyIndex = pkeyIndex;
    work.malformed = malformed;
    for (int i = 0; i < pieces; i++) {
      work.sge.add(addresses[i], lengths[i], keys[i]);
    }
    if (inline != null) {
      work.inlineMemory = inline;
      work.inlineLength = (int) inline.byteSize();
    }
  }
}
