package org.rdma4j.ib.core.mad;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.rdma4j.roce.address.Gid;

/** Bytes in a MAD: a GID, private data, or additional information. Immutable. */
public final class MadBytes {
  private final String name;
  private final long offset;
  private final int length;

  /**
   * Describes bytes.
   *
   * @param name their name in messages
   * @param offset of the first from the start of the MAD
   * @param length how many there are
   */
  public MadBytes(String name, long offset, int length) {
    this.name = name;
    this.offset = offset;
    this.length = length;
  }

  /** {@return their name} */
  public String name() {
    return name;
  }

  /** {@return how many bytes there are, used or not} */
  public int length() {
    return length;
  }

  /**
   * Reads them.
   *
   * @param mad the MAD
   * @return all of them, a copy
   */
  public byte[] get(MemorySegment mad) {
    return mad.asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE);
  }

  /**
   * Writes bytes at the beginning and zeros behind them.
   *
   * @param mad the MAD
   * @param bytes what to write
   * @throws IllegalArgumentException when there are more than fit
   */
  public void set(MemorySegment mad, byte[] bytes) {
    if (bytes.length > length) {
      throw new IllegalArgumentException(
          "%s: %d bytes do not fit, at most %d are allowed".formatted(name, bytes.length, length));
    }
    MemorySegment.copy(bytes, 0, mad, ValueLayout.JAVA_BYTE, offset, bytes.length);
    mad.asSlice(offset + bytes.length, length - bytes.length).fill((byte) 0);
  }

  /**
   * Reads a GID.
   *
   * @param mad the MAD
   * @return the GID in the first 16 bytes
   */
  public Gid getGid(MemorySegment mad) {
    return Gid.readFrom(mad, offset);
  }

  /**
   * Writes a GID.
   *
   * @param mad the MAD
   * @param gid for the first 16 bytes
   */
  public void setGid(MemorySegment mad, Gid gid) {
    gid.writeTo(mad, offset);
  }

  @Override
  public String toString() {
    return name;
  }
}
