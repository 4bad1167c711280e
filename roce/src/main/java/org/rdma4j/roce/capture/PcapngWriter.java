package org.rdma4j.roce.capture;

import java.io.Closeable;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.rdma4j.roce.packet.Icrc;
import org.rdma4j.roce.packet.IcrcCalculator;

/**
 * Writes packets to a pcapng file for Wireshark (IETF draft-ietf-opsawg-pcapng): one section, an interface for each
 * link, and enhanced packet blocks with nanosecond times and directions. The frames are Ethernet; IP and UDP headers
 * and the ICRC are made here, because a link does not show them.
 *
 * <p>Blocks are gathered in memory and written when that is full, on {@link #flush()} and on {@link #close()}.
 * Writing a packet allocates nothing. Thread-safe by a lock: several links may write to one file.
 */
public final class PcapngWriter implements Closeable {

  private static final int SECTION_HEADER = 0x0a0d_0d0a;
  private static final int BYTE_ORDER_MAGIC = 0x1a2b_3c4d;
  private static final int VERSION_1_0 = 1;
  private static final int INTERFACE_DESCRIPTION = 1;
  private static final int ENHANCED_PACKET = 6;
  private static final int LINK_TYPE_ETHERNET = 1;
  private static final int OPTION_USER_APPLICATION = 4;
  private static final int OPTION_INTERFACE_NAME = 2;
  private static final int OPTION_TIME_RESOLUTION = 9;
  private static final int OPTION_FLAGS = 2;
  private static final byte[] NANOSECONDS = {9};
  private static final int PACKET_HEADER = 28;
  private static final int PACKET_TRAILER = 8 + 4 + 4;

  /** The largest frame plus room to gather many: far above the 65535 bytes of an IP packet. */
  private static final int BUFFER_SIZE = 256 * 1024;

  private final WritableByteChannel channel;
  private final MemorySegment memory = Arena.ofAuto().allocate(BUFFER_SIZE, Long.BYTES);
  private final ByteBuffer buffer = memory.asByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
  private final IcrcCalculator icrc = new IcrcCalculator(memory);
  private int interfaces;
  private long packets;
  private long bytes;
  private boolean closed;

  /**
   * Starts a capture on a channel.
   *
   * @param channel where to; closed with this writer
   */
  public PcapngWriter(WritableByteChannel channel) {
    this.channel = channel;
    int start = begin(SECTION_HEADER);
    buffer.putInt(BYTE_ORDER_MAGIC).putInt(VERSION_1_0).putLong(-1);
    option(OPTION_USER_APPLICATION, "rdma4j".getBytes(StandardCharsets.UTF_8));
    endOptions();
    end(start);
  }

  /**
   * Starts a capture in a file, which is replaced when it exists.
   *
   * @param file where to
   * @return the writer
   * @throws IOException when the file cannot be written
   */
  public static PcapngWriter create(Path file) throws IOException {
    return new PcapngWriter(FileChannel.open(
        file, StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING));
  }

  /**
   * Announces an interface.
   *
   * @param name as Wireshark shows it, for example {@code rxe0}; at most 1024 bytes
   * @return its number, for {@link #write}
   * @throws IOException when the capture cannot be written, or is closed
   * @throws IllegalArgumentException (EINVAL) when the name is too long
   */
  public synchronized int addInterface(String name) throws IOException {
    byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
    if (bytes.length > 1024) {
      throw new IllegalArgumentException("interface name of " + bytes.length + " bytes: at most 1024 are allowed");
    }
    makeRoom(bytes.length + 64);
    int start = begin(INTERFACE_DESCRIPTION);
    buffer.putShort((short) LINK_TYPE_ETHERNET).putShort((short) 0).putInt(0);
    option(OPTION_INTERFACE_NAME, bytes);
    option(OPTION_TIME_RESOLUTION, NANOSECONDS);
    endOptions();
    end(start);
    return interfaces++;
  }

  /**
   * Writes a packet.
   *
   * @param interfaceNumber from {@link #addInterface}
   * @param epochNanos time in nanoseconds since 1970
   * @param direction which way it went
   * @param headers the addresses and IP fields; the ICRC is made for them
   * @param packet the packet's memory
   * @param offset of the BTH
   * @param length bytes from the BTH to the end of the pad, at least 12
   * @throws IOException when the capture cannot be written, or is closed
   * @throws IllegalArgumentException (EINVAL) when there is no such interface
   */
  public synchronized void write(
      int interfaceNumber, long epochNanos, Direction direction, RoceFrame headers, MemorySegment packet, long offset,
      int length) throws IOException {
    if (interfaceNumber < 0 || interfaceNumber >= interfaces) {
      throw new IllegalArgumentException("interface " + interfaceNumber + ": there are " + interfaces);
    }
    int frameLength = headers.headerLength() + length + Icrc.LENGTH;
    makeRoom(PACKET_HEADER + frameLength + 3 + PACKET_TRAILER);
    int start = begin(ENHANCED_PACKET);
    buffer.putInt(interfaceNumber).putInt((int) (epochNanos >>> 32)).putInt((int) epochNanos);
    buffer.putInt(frameLength).putInt(frameLength);
    int frame = buffer.position();
    int bth = frame + headers.headerLength();
    headers.write(memory, frame, length);
    MemorySegment.copy(packet, offset, memory, bth, length);
    Icrc.write(memory, bth + length, headers.icrc(icrc, bth, length));
    buffer.position(frame + frameLength);
    pad();
    buffer.putShort((short) OPTION_FLAGS).putShort((short) 4).putInt(direction.ordinal());
    endOptions();
    end(start);
    packets++;
    bytes += length + Icrc.LENGTH;
  }

  /**
   * Counts the packets.
   *
   * @return how many packets were written, gathered ones included
   */
  public synchronized long packets() {
    return packets;
  }

  /**
   * Counts the bytes.
   *
   * @return how many bytes the packets written had from the BTH to the end of the ICRC
   */
  public synchronized long bytes() {
    return bytes;
  }

  /**
   * Writes what is gathered to the channel.
   *
   * @throws IOException when that fails
   */
  public synchronized void flush() throws IOException {
    if (closed) {
      throw new ClosedChannelException();
    }
    drain();
  }

  /**
   * Writes what is gathered and closes the channel. Idempotent.
   *
   * @throws IOException when that fails
   */
  @Override
  public synchronized void close() throws IOException {
    if (!closed) {
      closed = true;
      try (channel) {
        drain();
      }
    }
  }

  private void makeRoom(int bytes) throws IOException {
    if (closed) {
      throw new ClosedChannelException();
    }
    if (buffer.remaining() < bytes) {
      drain();
    }
  }

  private void drain() throws IOException {
    buffer.flip();
    try {
      while (buffer.hasRemaining()) {
        channel.write(buffer);
      }
    } finally {
      buffer.compact();
    }
  }

  private int begin(int type) {
    int start = buffer.position();
    buffer.putInt(type).putInt(0);
    return start;
  }

  private void end(int start) {
    int length = buffer.position() + Integer.BYTES - start;
    buffer.putInt(length).putInt(start + Integer.BYTES, length);
  }

  private void option(int code, byte[] value) {
    buffer.putShort((short) code).putShort((short) value.length).put(value);
    pad();
  }

  private void pad() {
    while ((buffer.position() & 3) != 0) {
      buffer.put((byte) 0);
    }
  }

  private void endOptions() {
    buffer.putInt(0);
  }
}
