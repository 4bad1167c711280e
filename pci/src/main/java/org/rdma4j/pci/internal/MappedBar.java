package org.rdma4j.pci.internal;

import java.lang.foreign.MemorySegment;
import org.rdma4j.pci.Bar;
import org.rdma4j.pci.PciErrno;
import org.rdma4j.pci.PciException;

/** A region in the hands of a driver: checks offsets, and passes on what lies inside. */
final class MappedBar implements Bar {
  private final Function function;
  private final int number;
  private final long length;

  MappedBar(Function function, int number) {
    this.function = function;
    this.number = number;
    this.length = function.bar(number).size();
  }

  @Override
  public long length() {
    return length;
  }

  @Override
  public int read(long offset) {
    check(offset, Integer.BYTES, Integer.BYTES);
    return function.read(number, offset);
  }

  @Override
  public void write(long offset, int value) {
    check(offset, Integer.BYTES, Integer.BYTES);
    function.write(number, offset, value);
  }

  @Override
  public void write(long offset, long value) {
    check(offset, Long.BYTES, Long.BYTES);
    function.write(number, offset, value);
  }

  @Override
  public void write(long offset, MemorySegment source, long from, int count) {
    check(offset, Long.BYTES, count);
    if (count % Long.BYTES != 0) {
      throw new PciException(PciErrno.EINVAL, "writing a block of " + count + " bytes: allowed are multiples of 8");
    }
    function.write(number, offset, source, from, count);
  }

  private void check(long offset, int alignment, int count) {
    if (offset < 0 || count < 0 || offset > length - count || offset % alignment != 0) {
      throw new PciException(
          PciErrno.EINVAL,
          "%s region %d: %d bytes at 0x%x: allowed are multiples of %d within 0x%x bytes"
              .formatted(function, number, count, offset, alignment, length));
    }
  }
}
