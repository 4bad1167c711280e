package org.rdma4j.roce.link;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Takes datagrams from the kernel, many in one {@code recvmmsg}, and delivers the packets they hold: one, or with
 * {@code UDP_GRO} several of the same length (the last may be shorter).
 */
final class UdpReceiver {
  /** Most datagrams of one call. */
  static final int SLOTS = 32;

  /** How much more to ask for when all came that was asked for. */
  private static final int GROWTH = 4;

  private static final int SLOT_SIZE = 64 * 1024;
  private static final int NAME_SIZE = 32;
  private static final int CONTROL_SIZE = 128;
  private static final int IPV4_MAPPED = 0xffff;
  private static final ValueLayout.OfShort BIG_ENDIAN_SHORT = JAVA_SHORT.withOrder(ByteOrder.BIG_ENDIAN);
  private static final ValueLayout.OfInt BIG_ENDIAN_INT = JAVA_INT.withOrder(ByteOrder.BIG_ENDIAN);
  private static final ValueLayout.OfLong BIG_ENDIAN_LONG = JAVA_LONG.withOrder(ByteOrder.BIG_ENDIAN);

  private final Linux linux;
  private final LinkCounters counters;
  private final PacketCheck check;
  private final MemorySegment data;
  private final MemorySegment headers;
  private final MemorySegment names;
  private final MemorySegment controls;
  private final ReceivedPacket packet = new ReceivedPacket();

  /** Datagrams that the next call asks for. */
  private int wanted = 1;

  /** The datagrams of the last call that are not delivered yet, and where in the first of them to go on. */
  private UdpSocket socket;

  private int slot;
  private int slots;
  private int position;
  private int slotEnd;
  private int segmentLength;
  private int sourcePort;
  private long sourceHi;
  private long sourceLo;
  private int trafficClass;
  private int hopLimit;
  private int flowLabel;

  UdpReceiver(Arena arena, Linux linux, LinkCounters counters, IcrcCheck icrcCheck) {
    this.linux = linux;
    this.counters = counters;
    data = arena.allocate((long) SLOTS * SLOT_SIZE, Long.BYTES);
    check = new PacketCheck(data, icrcCheck, counters);
    headers = arena.allocate((long) SLOTS * Linux.MMSGHDR_SIZE, Long.BYTES);
    names = arena.allocate((long) SLOTS * NAME_SIZE, Long.BYTES);
    controls = arena.allocate((long) SLOTS * CONTROL_SIZE, Long.BYTES);
    MemorySegment vectors = arena.allocate((long) SLOTS * Linux.IOVEC_SIZE, Long.BYTES);
    for (int i = 0; i < SLOTS; i++) {
      long vector = (long) i * Linux.IOVEC_SIZE;
      vectors.set(JAVA_LONG, vector + Linux.IOV_BASE, data.address() + (long) i * SLOT_SIZE);
      vectors.set(JAVA_LONG, vector + Linux.IOV_LEN, SLOT_SIZE);
      long header = (long) i * Linux.MMSGHDR_SIZE;
      headers.set(JAVA_LONG, header + Linux.MSG_NAME, names.address() + (long) i * NAME_SIZE);
      headers.set(JAVA_LONG, header + Linux.MSG_IOV, vectors.address() + vector);
      headers.set(JAVA_LONG, header + Linux.MSG_IOVLEN, 1);
      headers.set(JAVA_LONG, header + Linux.MSG_CONTROL, controls.address() + (long) i * CONTROL_SIZE);
    }
  }

  /** Whether packets that were taken from the kernel wait for delivery. */
  boolean hasPending() {
    return advance();
  }

  /** Drops what waits for delivery from a socket that is about to be closed. */
  void forget(UdpSocket closing) {
    if (socket == closing) {
      slots = 0;
      slot = 0;
    }
  }

  /**
   * Takes datagrams from a socket, only when none are pending; tells the socket when it is empty. After a call that
   * found nothing it asks for one, else for as many as lately came, and more when there were that many.
   *
   * @return how many it asked for
   */
  int fill(UdpSocket from, int limit) {
    int asked = Math.min(limit, wanted);
    for (int i = 0; i < asked; i++) {
      long header = (long) i * Linux.MMSGHDR_SIZE;
      headers.set(JAVA_INT, header + Linux.MSG_NAMELEN, NAME_SIZE);
      headers.set(JAVA_LONG, header + Linux.MSG_CONTROLLEN, CONTROL_SIZE);
    }
    int received = linux.receiveMessages(from.fd(), headers.address(), asked);
    from.setReady(received == asked);
    if (received > 0) {
      counters.increment(LinkCounter.RECEIVE_CALLS);
      wanted = received == asked ? Math.min(SLOTS, GROWTH * wanted) : wanted;
      socket = from;
      slot = 0;
      slots = received;
      openSlot();
    } else {
      wanted = 1;
    }
    return asked;
  }

  /** Delivers pending packets; returns how many. */
  int deliver(PacketHandler handler, int limit) {
    int delivered = 0;
    while (delivered < limit && advance()) {
      int offset = position;
      int datagram = Math.min(segmentLength, slotEnd - offset);
      // Behind it before the handler runs, so that a handler that throws does not get it again.
      position += datagram;
      if (accept(offset, datagram)) {
        delivered++;
        handler.onPacket(packet);
      }
    }
    return delivered;
  }

  /** Goes to the next packet that waits; false when there is none. */
  private boolean advance() {
    while (slot < slots && position >= slotEnd) {
      slot++;
      if (slot < slots) {
        openSlot();
      }
    }
    return slot < slots;
  }

  private boolean accept(int offset, int datagram) {
    int length = datagram - PacketSeal.ICRC_LENGTH;
    if (length < PacketSeal.MIN_PACKET_LENGTH) {
      counters.increment(LinkCounter.RUNTS);
      return false;
    }
    long destinationHi = socket.gid().hi();
    long destinationLo = socket.gid().lo();
    // A sender that lets its kernel split, as this link does, numbers the parts of a datagram 0, 1, 2, …
    int likelyIdentification = (offset - slot * SLOT_SIZE) / segmentLength;
    int identification =
        check.check(
            offset, length, sourceHi, sourceLo, sourcePort, destinationHi, destinationLo, socket.port(),
            likelyIdentification);
    if (identification == PacketCheck.REFUSED) {
      return false;
    }
    counters.increment(LinkCounter.PACKETS_RECEIVED);
    counters.add(LinkCounter.BYTES_RECEIVED, length);
    packet
        .wrap(data, offset, length)
        .source(sourceHi, sourceLo)
        .destination(destinationHi, destinationLo)
        .ip(trafficClass, hopLimit, flowLabel, identification);
    return true;
  }

  /** Reads what the kernel said about the datagram that comes next. */
  private void openSlot() {
    long header = (long) slot * Linux.MMSGHDR_SIZE;
    int length = headers.get(JAVA_INT, header + Linux.MSG_LEN);
    position = slot * SLOT_SIZE;
    slotEnd = position + length;
    segmentLength = length;
    long name = (long) slot * NAME_SIZE;
    sourcePort = names.get(BIG_ENDIAN_SHORT, name + Linux.SIN_PORT) & 0xffff;
    boolean ipv4 = names.get(JAVA_SHORT, name) == Linux.AF_INET;
    if (ipv4) {
      sourceHi = 0;
      sourceLo = (long) IPV4_MAPPED << 32 | names.get(BIG_ENDIAN_INT, name + Linux.SIN_ADDR) & 0xffff_ffffL;
    } else {
      sourceHi = names.get(BIG_ENDIAN_LONG, name + Linux.SIN6_ADDR);
      sourceLo = names.get(BIG_ENDIAN_LONG, name + Linux.SIN6_ADDR + Long.BYTES);
    }
    hopLimit = ReceivedPacket.UNKNOWN;
    trafficClass = ipv4 ? ReceivedPacket.UNKNOWN : 0;
    flowLabel = ipv4 ? ReceivedPacket.UNKNOWN : 0;
    readControls((long) slot * CONTROL_SIZE, headers.get(JAVA_LONG, header + Linux.MSG_CONTROLLEN));
    if ((headers.get(JAVA_INT, header + Linux.MSG_FLAGS) & Linux.MSG_TRUNC) != 0) {
      counters.increment(LinkCounter.TRUNCATED);
      position = slotEnd;
    } else if (length == 0) {
      counters.increment(LinkCounter.RUNTS);
    }
  }

  private void readControls(long start, long length) {
    long at = start;
    long end = start + length;
    while (at + Linux.CMSG_HEADER <= end) {
      long size = controls.get(JAVA_LONG, at + Linux.CMSG_LEN);
      int level = controls.get(JAVA_INT, at + Linux.CMSG_LEVEL);
      readControl(level, controls.get(JAVA_INT, at + Linux.CMSG_TYPE), at + Linux.CMSG_HEADER);
      at += Math.max(size + 7 & -8, Linux.CMSG_HEADER);
    }
  }

  private void readControl(int level, int type, long value) {
    if (level == Linux.SOL_UDP && type == Linux.UDP_GRO) {
      segmentLength = Math.max(controls.get(JAVA_INT_UNALIGNED, value), 1);
    } else if (level == Linux.SOL_IP && type == Linux.IP_TTL) {
      hopLimit = controls.get(JAVA_INT_UNALIGNED, value);
    } else if (level == Linux.SOL_IP && type == Linux.IP_TOS) {
      trafficClass = controls.get(JAVA_BYTE, value) & 0xff;
    } else if (level == Linux.SOL_IPV6 && type == Linux.IPV6_HOPLIMIT) {
      hopLimit = controls.get(JAVA_INT_UNALIGNED, value);
    } else if (level == Linux.SOL_IPV6 && type == Linux.IPV6_FLOWINFO) {
      int flowInfo = controls.get(BIG_ENDIAN_INT, value);
      trafficClass = flowInfo >>> 20 & 0xff;
      flowLabel = flowInfo & 0xfffff;
    }
  }
}
