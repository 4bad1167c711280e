package org.rdma4j.roce.link;

import java.lang.foreign.MemorySegment;

/**
 * The packets that were claimed and committed and wait for {@link Link#flush}, and the messages they form.
 *
 * <p>Memory is filled from its start and is empty again when everything was taken, so that a steady flow uses the same
 * cached bytes. A message is one datagram, or several that go the same way, also those of several queue pairs, that lie
 * one behind the other and have the same length (the last may be shorter): what the kernel can take as one and split.
 * The ICRC is written at commit, when the place of the packet in its message is known, because the kernel numbers the
 * parts of a split IPv4 datagram 0, 1, 2, … in the identification, which the ICRC covers.
 */
final class TransmitBatch {
  /** Most parts of one message ({@code UDP_MAX_SEGMENTS} of the kernels that have the fewest). */
  static final int MAX_SEGMENTS = 64;

  /** Most bytes of one message: an IPv4 datagram with its IP and UDP header. */
  static final int MAX_MESSAGE_BYTES = 65_507;

  private static final int MESSAGE_ALIGNMENT = 64;
  private static final int NOTHING_CLAIMED = -1;

  private final Link owner;
  private final MemorySegment memory;
  private final PacketSeal seal;
  private final int maxPacketLength;

  private final LinkRoute[] routes;
  private final int[] offsets;
  private final int[] lengths;
  private final int[] segmentLengths;
  private final int[] counts;

  private int first;
  private int end;
  private int tail;

  private LinkRoute claimedRoute;
  private int claimedOffset;
  private int claimedLength = NOTHING_CLAIMED;

  /** Makes an empty batch of up to {@code maxMessages} messages in {@code memory}. */
  TransmitBatch(Link owner, MemorySegment memory, int port, int maxPacketLength, int maxMessages) {
    this.owner = owner;
    this.memory = memory;
    seal = new PacketSeal(memory, port);
    this.maxPacketLength = maxPacketLength;
    routes = new LinkRoute[maxMessages];
    offsets = new int[maxMessages];
    lengths = new int[maxMessages];
    segmentLengths = new int[maxMessages];
    counts = new int[maxMessages];
  }

  MemorySegment memory() {
    return memory;
  }

  long claim(Route route, int length) {
    if (claimedLength != NOTHING_CLAIMED) {
      throw new IllegalStateException("the packet claimed before was neither committed nor aborted");
    }
    if (!(route instanceof LinkRoute linkRoute) || linkRoute.owner() != owner) {
      throw new IllegalArgumentException("the route is not one of this link");
    }
    if (length < PacketSeal.MIN_PACKET_LENGTH || length > maxPacketLength || (length & 3) != 0) {
      throw new IllegalArgumentException(badLength(length));
    }
    int datagram = length + PacketSeal.ICRC_LENGTH;
    int offset = tail;
    if (!joinsLast(linkRoute, datagram)) {
      offset = (tail + MESSAGE_ALIGNMENT - 1) & -MESSAGE_ALIGNMENT;
      if (end == routes.length) {
        return -1;
      }
    }
    if (offset + (long) datagram > memory.byteSize()) {
      return -1;
    }
    claimedRoute = linkRoute;
    claimedOffset = offset;
    claimedLength = length;
    return offset;
  }

  private String badLength(int length) {
    return "a packet of " + length + " bytes; allowed are multiples of 4 from " + PacketSeal.MIN_PACKET_LENGTH + " to "
        + maxPacketLength;
  }

  private boolean joinsLast(LinkRoute route, int datagram) {
    int last = end - 1;
    return last >= first
        && routes[last].mayBatch()
        && route.mayBatch()
        && routes[last].isSameWay(route)
        && datagram <= segmentLengths[last]
        && counts[last] * segmentLengths[last] == lengths[last]
        && counts[last] < MAX_SEGMENTS
        && lengths[last] + datagram <= MAX_MESSAGE_BYTES;
  }

  void commit() {
    requireClaimed();
    int datagram = claimedLength + PacketSeal.ICRC_LENGTH;
    int message = end - 1;
    if (!joinsLast(claimedRoute, datagram)) {
      message = end++;
      routes[message] = claimedRoute;
      offsets[message] = claimedOffset;
      lengths[message] = 0;
      segmentLengths[message] = datagram;
      counts[message] = 0;
    }
    seal.seal(claimedRoute, claimedOffset, claimedLength, counts[message]);
    lengths[message] += datagram;
    counts[message]++;
    tail = claimedOffset + datagram;
    claimedLength = NOTHING_CLAIMED;
  }

  void abort() {
    requireClaimed();
    claimedLength = NOTHING_CLAIMED;
  }

  private void requireClaimed() {
    if (claimedLength == NOTHING_CLAIMED) {
      throw new IllegalStateException("no packet is claimed");
    }
  }

  /** Computes the ICRC of a datagram of a message anew, as one that goes by itself. */
  void sealSingly(int message, int index) {
    int length = segmentLength(message, index) - PacketSeal.ICRC_LENGTH;
    seal.seal(routes[message], segmentOffset(message, index), length, 0);
  }

  boolean isEmpty() {
    return first == end;
  }

  /** The first message that waits. */
  int first() {
    return first;
  }

  /** One behind the last message that waits. */
  int end() {
    return end;
  }

  LinkRoute route(int message) {
    return routes[message];
  }

  int offset(int message) {
    return offsets[message];
  }

  /** Bytes of the message, ICRCs included. */
  int length(int message) {
    return lengths[message];
  }

  /** Bytes of each datagram of the message but the last, ICRC included. */
  int segmentLength(int message) {
    return segmentLengths[message];
  }

  /** Datagrams of the message. */
  int count(int message) {
    return counts[message];
  }

  /** Where a datagram of a message starts. */
  int segmentOffset(int message, int index) {
    return offsets[message] + index * segmentLengths[message];
  }

  /** Bytes of a datagram of a message, ICRC included. */
  int segmentLength(int message, int index) {
    return Math.min(segmentLengths[message], lengths[message] - index * segmentLengths[message]);
  }

  /** Takes packets out of the first message; with the last packet of the last message, the memory is free again. */
  void take(int packets) {
    counts[first] -= packets;
    if (counts[first] > 0) {
      int bytes = packets * segmentLengths[first];
      offsets[first] += bytes;
      lengths[first] -= bytes;
      return;
    }
    routes[first] = null;
    first++;
    if (first == end) {
      first = 0;
      end = 0;
      // A claimed packet keeps its place: whoever claimed it may flush before the commit.
      tail = claimedLength == NOTHING_CLAIMED ? 0 : claimedOffset;
    }
  }
}
