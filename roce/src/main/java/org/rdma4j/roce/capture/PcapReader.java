package org.rdma4j.roce.capture;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;

/**
 * Reads the frames of a capture file: pcap with micro- or nanoseconds, or pcapng with enhanced packet blocks; of either
 * byte order. Meant for tests and tools; not thread-safe.
 */
public final class PcapReader {

  private static final int PCAP_MICROS = 0xa1b2_c3d4;
  private static final int PCAP_NANOS = 0xa1b2_3c4d;
  private static final int SECTION_HEADER = 0x0a0d_0d0a;
  private static final int BYTE_ORDER_MAGIC = 0x1a2b_3c4d;
  private static final int INTERFACE_DESCRIPTION = 1;
  private static final int ENHANCED_PACKET = 6;
  private static final int OPTION_FLAGS = 2;
  private static final int OPTION_TIME_RESOLUTION = 9;
  private static final int DEFAULT_RESOLUTION = 6;
  private static final int PCAP_HEADER = 24;
  private static final long NANOS_PER_SECOND = 1_000_000_000L;

  private final MemorySegment file;
  private final boolean pcapng;
  private final List<Long> nanosPerUnit = new ArrayList<>();
  private ValueLayout.OfInt word;
  private ValueLayout.OfShort half;
  private long next;
  private long epochNanos;
  private int length;
  private long offset;
  private Direction direction = Direction.UNKNOWN;

  /**
   * Starts reading a capture.
   *
   * @param contents the whole file
   * @throws IOException when it does not start as a capture does
   */
  public PcapReader(MemorySegment contents) throws IOException {
    file = contents;
    order(ByteOrder.LITTLE_ENDIAN);
    if (contents.byteSize() < PCAP_HEADER) {
      throw new IOException("no capture: " + contents.byteSize() + " bytes");
    }
    pcapng = file.get(word, 0) == SECTION_HEADER;
    if (!pcapng) {
      int magic = file.get(word, 0);
      int swapped = Integer.reverseBytes(magic);
      if (swapped == PCAP_MICROS || swapped == PCAP_NANOS) {
        order(ByteOrder.BIG_ENDIAN);
        magic = swapped;
      }
      if (magic != PCAP_MICROS && magic != PCAP_NANOS) {
        throw new IOException("no capture: magic number 0x" + Integer.toHexString(magic));
      }
      nanosPerUnit.add(magic == PCAP_NANOS ? 1L : 1000L);
      next = PCAP_HEADER;
    }
  }

  /**
   * Opens a capture file, which is read whole.
   *
   * @param file the file
   * @return the reader, before the first frame
   * @throws IOException when it cannot be read or is no capture
   */
  public static PcapReader open(Path file) throws IOException {
    return new PcapReader(MemorySegment.ofArray(Files.readAllBytes(file)));
  }

  /**
   * Goes to the next frame.
   *
   * @return false at the end
   * @throws IOException when the file is cut off or damaged
   */
  public boolean next() throws IOException {
    try {
      return pcapng ? nextBlock() : nextRecord();
    } catch (IndexOutOfBoundsException e) {
      throw new IOException("capture is cut off or damaged at byte " + next, e);
    }
  }

  /**
   * The memory that frames lie in.
   *
   * @return the whole file
   */
  public MemorySegment memory() {
    return file;
  }

  /**
   * Where the frame lies.
   *
   * @return offset in {@link #memory()}
   */
  public long offset() {
    return offset;
  }

  /**
   * Bytes captured of the frame.
   *
   * @return at least 0
   */
  public int length() {
    return length;
  }

  /**
   * The time of the frame.
   *
   * @return nanoseconds since 1970
   */
  public long epochNanos() {
    return epochNanos;
  }

  /**
   * Which way the frame went.
   *
   * @return unknown when the capture does not say
   */
  public Direction direction() {
    return direction;
  }

  private boolean nextRecord() {
    if (next >= file.byteSize()) {
      return false;
    }
    long seconds = file.get(word, next) & 0xffff_ffffL;
    long fraction = file.get(word, next + 4) & 0xffff_ffffL;
    frame(next + 16, file.get(word, next + 8));
    epochNanos = seconds * NANOS_PER_SECOND + fraction * nanosPerUnit.getFirst();
    next = offset + length;
    return true;
  }

  private boolean nextBlock() throws IOException {
    while (next < file.byteSize()) {
      long block = next;
      int type = file.get(word, block);
      if (type == SECTION_HEADER) {
        order(ByteOrder.LITTLE_ENDIAN);
        order(file.get(word, block + 8) == BYTE_ORDER_MAGIC ? ByteOrder.LITTLE_ENDIAN : ByteOrder.BIG_ENDIAN);
        nanosPerUnit.clear();
      }
      int blockLength = file.get(word, block + 4);
      if (blockLength < 12 || file.get(word, block + blockLength - 4) != blockLength) {
        throw new IOException("pcapng block at byte " + block + " has a wrong length: " + blockLength);
      }
      next = block + blockLength;
      long end = next - 4;
      if (type == INTERFACE_DESCRIPTION) {
        long at = option(block + 16, end, OPTION_TIME_RESOLUTION);
        nanosPerUnit.add(nanosPerUnit(at < 0 ? DEFAULT_RESOLUTION : file.get(ValueLayout.JAVA_BYTE, at)));
      } else if (type == ENHANCED_PACKET) {
        long units = (long) file.get(word, block + 12) << 32 | file.get(word, block + 16) & 0xffff_ffffL;
        epochNanos = units * nanosPerUnit.get(file.get(word, block + 8));
        frame(block + 28, file.get(word, block + 20));
        long at = option(offset + (length + 3 & -4), end, OPTION_FLAGS);
        int way = at < 0 ? 0 : file.get(word, at) & 3;
        direction = way == 3 ? Direction.UNKNOWN : Direction.values()[way];
        return true;
      }
    }
    return false;
  }

  private static long nanosPerUnit(int resolution) throws IOException {
    if (resolution < 0 || resolution > 9) {
      throw new IOException("pcapng time resolution " + resolution + ": powers of ten up to 9 are read");
    }
    return LongStream.range(resolution, 9).reduce(1, (nanos, i) -> nanos * 10);
  }

  /** Where an option's value lies, or -1. */
  private long option(long start, long end, int code) {
    long at = start;
    while (at + 4 <= end) {
      int found = file.get(half, at) & 0xffff;
      if (found == code) {
        return at + 4;
      }
      if (found == 0) {
        return -1;
      }
      at += 4 + ((file.get(half, at + 2) & 0xffff) + 3 & -4);
    }
    return -1;
  }

  private void frame(long at, int bytes) {
    if (bytes < 0 || at + bytes > file.byteSize()) {
      throw new IndexOutOfBoundsException("frame of " + bytes + " bytes at byte " + at);
    }
    offset = at;
    length = bytes;
  }

  private void order(ByteOrder order) {
    word = ValueLayout.JAVA_INT_UNALIGNED.withOrder(order);
    half = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(order);
  }
}
