package org.rdma4j.roce.link;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Hands the messages of a {@link TransmitBatch} to the kernel, many in one {@code sendmmsg}. */
final class UdpSender {
  /** Most messages of one call. */
  private static final int SLOTS = 64;

  /** Room for three control messages of up to 8 bytes of data. */
  private static final int CONTROL_SIZE = 96;

  private static final int CONTROL_STEP = 24;

  private final Linux linux;
  private final TransmitBatch batch;
  private final LinkCounters counters;
  private final MemorySegment headers;
  private final MemorySegment vectors;
  private final MemorySegment controls;
  private final long memoryAddress;
  private final int[] packets = new int[SLOTS];
  private final int[] bytes = new int[SLOTS];
  private boolean busy;

  UdpSender(Arena arena, Linux linux, TransmitBatch batch, LinkCounters counters) {
    this.linux = linux;
    this.batch = batch;
    this.counters = counters;
    memoryAddress = batch.memory().address();
    headers = arena.allocate((long) SLOTS * Linux.MMSGHDR_SIZE, Long.BYTES);
    vectors = arena.allocate((long) SLOTS * Linux.IOVEC_SIZE, Long.BYTES);
    controls = arena.allocate((long) SLOTS * CONTROL_SIZE, Long.BYTES);
    for (int slot = 0; slot < SLOTS; slot++) {
      long header = (long) slot * Linux.MMSGHDR_SIZE;
      headers.set(JAVA_LONG, header + Linux.MSG_IOV, vectors.address() + (long) slot * Linux.IOVEC_SIZE);
      headers.set(JAVA_LONG, header + Linux.MSG_IOVLEN, 1);
    }
  }

  /** Whether messages wait because a socket could take no more. */
  boolean isBusy() {
    return busy;
  }

  /** Sends until nothing is left or a socket can take no more; returns how many packets the kernel took. */
  int flush() {
    int taken = 0;
    busy = false;
    while (!busy && !batch.isEmpty()) {
      UdpRoute route = (UdpRoute) batch.route(batch.first());
      if (!route.isUsable()) {
        drop(batch.count(batch.first()));
        continue;
      }
      int slots = fill(route.socket());
      int sent = send(route, slots);
      if (sent >= 0) {
        taken += sent(sent);
      } else {
        refused(-sent, route);
      }
    }
    return taken;
  }

  private int send(UdpRoute route, int slots) {
    if (slots > 1 || headers.get(JAVA_LONG, Linux.MSG_CONTROLLEN) > 0) {
      return linux.sendMessages(route.socket().fd(), headers.address(), slots);
    }
    // The simpler call for the single packet on which a peer waits.
    long data = vectors.get(JAVA_LONG, Linux.IOV_BASE);
    int sent = linux.sendTo(route.socket().fd(), data, bytes[0], route.address());
    return sent < 0 ? sent : 1;
  }

  private int sent(int slots) {
    int sentPackets = 0;
    long sentBytes = 0;
    for (int slot = 0; slot < slots; slot++) {
      sentPackets += packets[slot];
      sentBytes += bytes[slot] - packets[slot] * PacketSeal.ICRC_LENGTH;
      batch.take(packets[slot]);
    }
    counters.add(LinkCounter.PACKETS_SENT, sentPackets);
    counters.add(LinkCounter.BYTES_SENT, sentBytes);
    counters.increment(LinkCounter.SEND_CALLS);
    return sentPackets;
  }

  private void refused(int errno, UdpRoute route) {
    if (errno == LinkErrno.EAGAIN.number()) {
      counters.increment(LinkCounter.SEND_BUSY);
      busy = true;
    } else if (packets[0] > 1 && (errno == LinkErrno.EINVAL.number() || errno == LinkErrno.EIO.number())) {
      // No checksum offload on the way (EIO), or a path that is too narrow on older kernels (EINVAL).
      route.refuseSegmentation();
    } else if (errno != LinkErrno.EINTR.number()) {
      drop(packets[0]);
    }
  }

  private void drop(int count) {
    counters.add(LinkCounter.SEND_ERRORS, count);
    batch.take(count);
  }

  /** Describes the first messages, as far as they go through one socket; returns how many slots it took. */
  private int fill(UdpSocket socket) {
    int slot = 0;
    for (int message = batch.first(); message < batch.end() && slot < SLOTS; message++) {
      UdpRoute route = (UdpRoute) batch.route(message);
      if (route.socket() != socket) {
        break;
      }
      if (batch.count(message) == 1 || route.mayBatch()) {
        fillSlot(slot++, route, message, batch.offset(message), batch.length(message), batch.count(message));
      } else {
        slot = fillSingly(slot, route, message);
      }
    }
    return slot;
  }

  /** A message that was to be split by the kernel and cannot: each packet by itself, with identification 0. */
  private int fillSingly(int firstSlot, UdpRoute route, int message) {
    int slot = firstSlot;
    for (int index = 0; index < batch.count(message) && slot < SLOTS; index++) {
      int offset = batch.segmentOffset(message, index);
      int length = batch.segmentLength(message, index);
      batch.sealSingly(message, index);
      fillSlot(slot++, route, message, offset, length, 1);
    }
    return slot;
  }

  private void fillSlot(int slot, UdpRoute route, int message, int offset, int length, int count) {
    packets[slot] = count;
    bytes[slot] = length;
    long vector = (long) slot * Linux.IOVEC_SIZE;
    vectors.set(JAVA_LONG, vector + Linux.IOV_BASE, memoryAddress + offset);
    vectors.set(JAVA_LONG, vector + Linux.IOV_LEN, length);
    long control = (long) slot * CONTROL_SIZE;
    int controlLength = 0;
    if (count > 1) {
      controls.set(JAVA_LONG, control + Linux.CMSG_LEN, Linux.CMSG_HEADER + Short.BYTES);
      controls.set(JAVA_INT, control + Linux.CMSG_LEVEL, Linux.SOL_UDP);
      controls.set(JAVA_INT, control + Linux.CMSG_TYPE, Linux.UDP_SEGMENT);
      controls.set(JAVA_SHORT, control + Linux.CMSG_HEADER, (short) batch.segmentLength(message));
      controlLength = CONTROL_STEP;
    }
    boolean ipv4 = route.source().isIpv4Mapped();
    if (route.trafficClass() != 0) {
      int type = ipv4 ? Linux.IP_TOS : Linux.IPV6_TCLASS;
      controlLength = putIpControl(control, controlLength, ipv4, type, route.trafficClass());
    }
    if (route.hopLimit() != UdpSocket.DEFAULT_HOP_LIMIT) {
      int type = ipv4 ? Linux.IP_TTL : Linux.IPV6_HOPLIMIT;
      controlLength = putIpControl(control, controlLength, ipv4, type, route.hopLimit());
    }
    long header = (long) slot * Linux.MMSGHDR_SIZE;
    headers.set(JAVA_LONG, header + Linux.MSG_NAME, route.address().address());
    headers.set(JAVA_INT, header + Linux.MSG_NAMELEN, (int) route.address().byteSize());
    headers.set(JAVA_LONG, header + Linux.MSG_CONTROL, controlLength == 0 ? 0 : controls.address() + control);
    headers.set(JAVA_LONG, header + Linux.MSG_CONTROLLEN, controlLength);
  }

  private int putIpControl(long control, int at, boolean ipv4, int type, int value) {
    long position = control + at;
    controls.set(JAVA_LONG, position + Linux.CMSG_LEN, Linux.CMSG_HEADER + Integer.BYTES);
    controls.set(JAVA_INT, position + Linux.CMSG_LEVEL, ipv4 ? Linux.SOL_IP : Linux.SOL_IPV6);
    controls.set(JAVA_INT, position + Linux.CMSG_TYPE, type);
    controls.set(JAVA_INT, position + Linux.CMSG_HEADER, value);
    return at + CONTROL_STEP;
  }
}
