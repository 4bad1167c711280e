package org.rdma4j.roce.link;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.NetworkInterface;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.rdma4j.roce.address.Gid;

/**
 * RoCEv2 over the UDP sockets of Linux, one per local address, through {@code java.lang.foreign}: several packets in
 * one system call and, with {@code UDP_SEGMENT} and {@code UDP_GRO}, in one pass through the kernel's network stack.
 *
 * <p>Packets leave with don't-fragment set and IPv4 identification 0 (the parts of a split datagram: 0, 1, 2, …), for
 * which their ICRC is computed. The identification of received packets is not visible: see {@link IcrcCheck}. The
 * steady state allocates nothing. The path MTU must carry the packets: longer ones are refused by the kernel and
 * counted as {@link LinkCounter#SEND_ERRORS}.
 */
public final class UdpLink implements Link {
  /** 4096 bytes of payload and the longest headers that RC, UC or UD put before them. */
  static final int MAX_PACKET_LENGTH = 4096 + 76;

  private static final int MAX_MESSAGES = 512;

  /** With several sockets: after so many calls of receive, one looks at all of them, so that none is left out. */
  private static final int CALLS_BETWEEN_SCANS = 16;

  private static final long TIMESPEC_SIZE = 16;

  private final UdpLinkConfig config;
  private final Linux linux;
  private final Arena arena;
  private final LinkCounters counters = new LinkCounters();
  private final TransmitBatch batch;
  private final UdpSender sender;
  private final UdpReceiver receiver;
  private final MemorySegment timespec;
  private final int eventFd;
  private final Doorbell doorbell;

  /** The sockets, and the descriptors to poll: the event descriptor first, then one per socket. */
  private UdpSocket[] sockets = new UdpSocket[0];

  private MemorySegment pollDescriptors;
  private int nextSocket;
  private int callsSinceScan;
  private boolean closed;

  /**
   * Opens a link without addresses.
   *
   * @param config the settings
   * @throws LinkException EMFILE or ENFILE when there are no more file descriptors; EOPNOTSUPP when this is not
   * 64-bit     Linux
   */
  public UdpLink(UdpLinkConfig config) {
    this(config, requireLinux());
  }

  UdpLink(UdpLinkConfig config, Linux linux) {
    this(config, linux, Arena.ofShared());
  }

  /** Closes the arena with the link, or when there can be no link. */
  UdpLink(UdpLinkConfig config, Linux linux, Arena arena) {
    this.config = config;
    this.linux = linux;
    this.arena = arena;
    int fd = -1;
    boolean made = false;
    try {
      MemorySegment memory = arena.allocate(config.transmitBytes(), 64);
      batch = new TransmitBatch(this, memory, config.port(), MAX_PACKET_LENGTH, MAX_MESSAGES);
      sender = new UdpSender(arena, linux, batch, counters);
      receiver = new UdpReceiver(arena, linux, counters, config.icrcCheck());
      timespec = arena.allocate(TIMESPEC_SIZE, Long.BYTES);
      fd = linux.eventFd();
      if (fd < 0) {
        throw LinkException.ofErrno(-fd, "eventfd failed for a UDP link");
      }
      int wake = fd;
      eventFd = fd;
      doorbell = new Doorbell(() -> Linux.wake(wake));
      pollDescriptors = describe(sockets);
      made = true;
    } finally {
      if (!made) {
        if (fd >= 0) {
          linux.close(fd);
        }
        arena.close();
      }
    }
  }

  private static Linux requireLinux() {
    if (!isSupported()) {
      throw LinkErrno.EOPNOTSUPP.exception(
          "a UDP link through system calls needs 64-bit Linux, this is " + System.getProperty("os.name") + " "
              + System.getProperty("os.arch"));
    }
    return new Linux();
  }

  /**
   * Says whether this system has what the link is made for.
   *
   * @return true on Linux on x86-64 and aarch64
   */
  public static boolean isSupported() {
    String arch = System.getProperty("os.arch").toLowerCase(Locale.ROOT);
    return System.getProperty("os.name").equals("Linux")
        && (arch.equals("amd64") || arch.equals("x86_64") || arch.equals("aarch64"));
  }

  @Override
  public int maxPacketLength() {
    return MAX_PACKET_LENGTH;
  }

  @Override
  public void addAddress(Gid gid) {
    requireOpen();
    LinkAddress.requireUnicast(gid);
    if (find(gid) >= 0) {
      throw LinkErrno.EADDRINUSE.exception(gid + " is an address of this link already");
    }
    add(UdpSocket.open(linux, gid, config));
  }

  private void add(UdpSocket socket) {
    UdpSocket[] more = Arrays.copyOf(sockets, sockets.length + 1);
    more[sockets.length] = socket;
    boolean described = false;
    try {
      pollDescriptors = describe(more);
      described = true;
    } finally {
      if (!described) {
        socket.close();
      }
    }
    sockets = more;
  }

  @Override
  public void removeAddress(Gid gid) {
    requireOpen();
    int index = find(gid);
    if (index < 0 || gid.isMulticast()) {
      throw LinkErrno.EADDRNOTAVAIL.exception(gid + " is no address of this link");
    }
    remove(index);
  }

  @Override
  public void joinGroup(Gid group) {
    requireOpen();
    LinkAddress.requireMulticast(group);
    if (find(group) >= 0) {
      throw LinkErrno.EADDRINUSE.exception(group + " has been joined by this link already");
    }
    for (UdpSocket each : sockets) {
      if (!each.gid().isMulticast() && each.gid().isIpv4Mapped() == group.isIpv4Mapped()) {
        int index = LinkAddress.interfaceOf(each.gid(), config.networkInterface()).getIndex();
        add(UdpSocket.openGroup(linux, group, config, index));
        return;
      }
    }
    throw LinkErrno.EADDRNOTAVAIL.exception(group + " cannot be joined without an address of its family");
  }

  @Override
  public void leaveGroup(Gid group) {
    requireOpen();
    int index = find(group);
    if (index < 0 || !group.isMulticast()) {
      throw LinkErrno.EADDRNOTAVAIL.exception(group + " was not joined by this link");
    }
    remove(index);
  }

  private void remove(int index) {
    UdpSocket[] fewer = new UdpSocket[sockets.length - 1];
    System.arraycopy(sockets, 0, fewer, 0, index);
    System.arraycopy(sockets, index + 1, fewer, index, fewer.length - index);
    UdpSocket socket = sockets[index];
    sockets = fewer;
    pollDescriptors = describe(fewer);
    nextSocket = 0;
    receiver.forget(socket);
    socket.close();
  }

  private int find(Gid gid) {
    for (int i = 0; i < sockets.length; i++) {
      if (sockets[i].gid().equals(gid)) {
        return i;
      }
    }
    return -1;
  }

  /** What to poll, in the memory there is where it has room. */
  private MemorySegment describe(UdpSocket[] all) {
    MemorySegment descriptors = pollDescriptors;
    long bytes = (all.length + 1L) * Linux.POLLFD_SIZE;
    if (descriptors == null || descriptors.byteSize() < bytes) {
      descriptors = arena.allocate(2 * bytes, Long.BYTES);
    }
    for (int i = 0; i <= all.length; i++) {
      long at = (long) i * Linux.POLLFD_SIZE;
      descriptors.set(JAVA_INT, at + Linux.POLLFD_FD, i == 0 ? eventFd : all[i - 1].fd());
      descriptors.set(JAVA_SHORT, at + Linux.POLLFD_EVENTS, Linux.POLLIN);
    }
    return descriptors;
  }

  @Override
  public Route route(Gid source, Gid destination, int trafficClass, int flowLabel, int hopLimit) {
    requireOpen();
    int index = find(source);
    if (index < 0 || source.isMulticast()) {
      throw LinkErrno.EADDRNOTAVAIL.exception("no route from " + source + ": it is no address of this link");
    }
    if (destination.isMulticast() && destination.isIpv4Mapped() == source.isIpv4Mapped()) {
      NetworkInterface through = LinkAddress.interfaceOf(source, config.networkInterface());
      LinkAddress.requireRoute(source, destination, through);
      sockets[index].sendGroupsThrough(through.getIndex());
    }
    return new UdpRoute(this, sockets[index], destination, trafficClass, flowLabel, hopLimit);
  }

  private void requireOpen() {
    if (closed) {
      throw LinkErrno.EBADF.exception("the link is closed");
    }
  }

  @Override
  public MemorySegment transmitMemory() {
    return batch.memory();
  }

  @Override
  public long claim(Route route, int length) {
    return closed ? -1 : batch.claim(route, length);
  }

  @Override
  public void commit() {
    batch.commit();
  }

  @Override
  public void abort() {
    batch.abort();
  }

  @Override
  public int flush() {
    return closed || batch.isEmpty() ? 0 : sender.flush();
  }

  @Override
  public int receive(PacketHandler handler, int limit) {
    if (closed) {
      return 0;
    }
    int delivered = receiver.deliver(handler, limit);
    if (delivered < limit) {
      findReady();
    }
    while (delivered < limit) {
      UdpSocket socket = nextReady();
      if (socket == null) {
        return delivered;
      }
      int asked = receiver.fill(socket, limit - delivered);
      delivered += receiver.deliver(handler, limit - delivered);
      if (asked == 1) {
        return delivered; // Who waits for a lone packet does not wait until there is seen to be no other.
      }
    }
    return delivered;
  }

  private void findReady() {
    if (sockets.length == 1) {
      sockets[0].setReady(true);
    } else if (++callsSinceScan > CALLS_BETWEEN_SCANS || !anyReady()) {
      callsSinceScan = 0;
      poll(0);
    }
  }

  private boolean anyReady() {
    for (UdpSocket socket : sockets) {
      if (socket.isReady()) {
        return true;
      }
    }
    return false;
  }

  private UdpSocket nextReady() {
    for (int tried = 0; tried < sockets.length; tried++) {
      nextSocket = nextSocket + 1 < sockets.length ? nextSocket + 1 : 0;
      if (sockets[nextSocket].isReady()) {
        return sockets[nextSocket];
      }
    }
    return null;
  }

  @Override
  public void await(long timeoutNanos) {
    if (closed || !doorbell.beginWait()) {
      return;
    }
    try {
      if (timeoutNanos > 0 && !receiver.hasPending()) {
        poll(timeoutNanos);
      }
    } finally {
      doorbell.endWait();
    }
  }

  /** Polls all descriptors and notes which sockets are ready. */
  private void poll(long timeoutNanos) {
    long seconds = timeoutNanos / TimeUnit.SECONDS.toNanos(1);
    timespec.set(JAVA_LONG, 0, seconds);
    timespec.set(JAVA_LONG, Long.BYTES, timeoutNanos - seconds * TimeUnit.SECONDS.toNanos(1));
    MemorySegment descriptors = pollDescriptors;
    short events = sender.isBusy() ? (short) (Linux.POLLIN | Linux.POLLOUT) : Linux.POLLIN;
    for (int i = 1; i <= sockets.length; i++) {
      descriptors.set(JAVA_SHORT, (long) i * Linux.POLLFD_SIZE + Linux.POLLFD_EVENTS, events);
    }
    if (linux.poll(descriptors.address(), sockets.length + 1, timespec.address()) <= 0) {
      return;
    }
    if (descriptors.get(JAVA_SHORT, Linux.POLLFD_REVENTS) != 0) {
      linux.drainEventFd(eventFd);
    }
    for (int i = 0; i < sockets.length; i++) {
      short seen = descriptors.get(JAVA_SHORT, (i + 1L) * Linux.POLLFD_SIZE + Linux.POLLFD_REVENTS);
      if ((seen & (Linux.POLLERR | Linux.POLLHUP | Linux.POLLNVAL)) != 0) {
        counters.increment(LinkCounter.RECEIVE_ERRORS);
      }
      // Errors count as ready: the receive call clears them.
      if ((seen & ~Linux.POLLOUT) != 0) {
        sockets[i].setReady(true);
      }
    }
  }

  @Override
  public void wakeup() {
    doorbell.ring();
  }

  @Override
  public LinkCounters counters() {
    return counters;
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    doorbell.close();
    for (UdpSocket socket : sockets) {
      socket.close();
    }
    linux.close(eventFd);
    arena.close();
  }
}
