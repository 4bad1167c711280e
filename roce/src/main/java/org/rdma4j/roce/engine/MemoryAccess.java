package org.rdma4j.roce.engine;

import java.lang.foreign.MemorySegment;

/** Moves message bytes between packets and scatter/gather lists, checking every key at every step. */
final class MemoryAccess {
  private final KeyTable keys;
  private int refusedKey;
  private long refusedAddress;
  private long refusedLength;
  private int refusedRights;
  private RegisteredMemory refusedMemory;

  MemoryAccess(KeyTable keys) {
    this.keys = keys;
  }

  /** Copies {@code count} bytes of the message, from {@code position} on, into a packet. */
  FailedCheck gather(ScatterGather list, long position, MemorySegment packet, long offset, int count, int pd) {
    return move(list, position, packet, offset, count, pd, false);
  }

  /** Copies bytes of a packet into the message at {@code position}. */
  FailedCheck scatter(ScatterGather list, long position, MemorySegment packet, long offset, int count, int pd) {
    return move(list, position, packet, offset, count, pd, true);
  }

  private FailedCheck move(
      ScatterGather list, long position, MemorySegment packet, long offset, int count, int pd, boolean write) {
    long skip = position;
    long at = offset;
    int left = count;
    for (int i = 0; i < list.count() && left > 0; i++) {
      long length = list.length(i);
      if (skip >= length) {
        skip -= length;
        continue;
      }
      int piece = (int) Math.min(left, length - skip);
      long address = list.address(i) + skip;
      RegisteredMemory memory = keys.find(list.key(i));
      FailedCheck check =
          memory == null ? FailedCheck.LOCAL_KEY : memory.checkLocal(list.key(i), pd, write, address, piece);
      if (check != FailedCheck.NONE) {
        return refused(check, memory, list.key(i), address, piece, write ? RegisteredMemory.LOCAL_WRITE : 0);
      }
      boolean done =
          write ? memory.write(address, packet, at, piece) : memory.read(address, packet, at, piece);
      if (!done) {
        return refused(FailedCheck.LOCAL_MEMORY_GONE, memory, list.key(i), address, piece, 0);
      }
      skip = 0;
      at += piece;
      left -= piece;
    }
    return left == 0 ? FailedCheck.NONE : FailedCheck.LOCAL_RANGE;
  }

  /** Looks a remote key up and checks what it is used for. */
  FailedCheck checkRemote(int key, int pd, int qp, int wanted, long address, long count) {
    RegisteredMemory memory = keys.find(key);
    FailedCheck check =
        memory == null ? FailedCheck.REMOTE_KEY : memory.checkRemote(key, pd, qp, wanted, address, count);
    return check == FailedCheck.NONE ? check : refused(check, memory, key, address, count, wanted);
  }

  /** The memory of a key that {@link #checkRemote} has passed a moment ago. */
  RegisteredMemory memory(int key) {
    return keys.find(key);
  }

  private FailedCheck refused(
      FailedCheck check, RegisteredMemory memory, int key, long address, long count, int rights) {
    refusedMemory = memory;
    refusedKey = key;
    refusedAddress = address;
    refusedLength = count;
    refusedRights = rights;
    return check;
  }

  /** Key of the access that was refused last. */
  int refusedKey() {
    return refusedKey;
  }

  /** Its first address. */
  long refusedAddress() {
    return refusedAddress;
  }

  /** Its bytes. */
  long refusedLength() {
    return refusedLength;
  }

  /** The rights it needed. */
  int refusedRights() {
    return refusedRights;
  }

  /** The memory under its key, or null. */
  RegisteredMemory refusedMemory() {
    return refusedMemory;
  }
}
