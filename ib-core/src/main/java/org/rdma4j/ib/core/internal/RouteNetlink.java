package org.rdma4j.ib.core.internal;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A socket of the kernel's routing netlink ({@code rtnetlink(7)}) that receives a message for every change of a link or
 * an address. What the messages say is not looked at: they are the occasion to read the interfaces again.
 */
final class RouteNetlink implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(RouteNetlink.class);

  private static final int AF_NETLINK = 16;
  private static final int SOCK_RAW_CLOEXEC = 3 | 0x80000;
  private static final int NETLINK_ROUTE = 0;
  private static final int GROUPS = 0x1 | 0x10 | 0x100; // RTMGRP_LINK, RTMGRP_IPV4_IFADDR, RTMGRP_IPV6_IFADDR
  private static final int EFD_CLOEXEC_NONBLOCK = 0x80000 | 0x800;
  private static final int MSG_DONTWAIT = 0x40;
  private static final short POLLIN = 1;
  private static final int SOCKADDR_NL_BYTES = 12;
  private static final int BUFFER_BYTES = 16 << 10;
  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
  private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT;

  private final Arena arena = Arena.ofShared();
  private final MethodHandle poll = function("poll", INT, ValueLayout.ADDRESS, LONG, INT);
  private final MethodHandle recv = function("recv", LONG, INT, ValueLayout.ADDRESS, LONG, INT);
  private final MethodHandle read = function("read", LONG, INT, ValueLayout.ADDRESS, LONG);
  private final MethodHandle write = function("write", LONG, INT, ValueLayout.ADDRESS, LONG);
  private final MethodHandle closeFd = function("close", INT, INT);
  private final MemorySegment buffer = arena.allocate(BUFFER_BYTES, 8);
  private final MemorySegment one = arena.allocateFrom(LONG, 1L);
  private final MemorySegment pollFds = arena.allocate(16, 8); // two struct pollfd: fd, events, revents
  private int socket = -1;
  private int event = -1;

  private RouteNetlink() {}

  /** Opens the socket; null where this host has none or native access is not allowed. */
  static RouteNetlink open() {
    RouteNetlink netlink = null;
    try {
      netlink = new RouteNetlink();
      netlink.bind();
      return netlink;
    } catch (Throwable e) {
      LOG.debug("there is no rtnetlink", e);
      if (netlink != null) {
        netlink.close();
      }
      return null;
    }
  }

  private void bind() throws Throwable {
    socket = (int) function("socket", INT, INT, INT, INT).invokeExact(AF_NETLINK, SOCK_RAW_CLOEXEC, NETLINK_ROUTE);
    event = (int) function("eventfd", INT, INT, INT).invokeExact(0, EFD_CLOEXEC_NONBLOCK);
    MemorySegment address = arena.allocate(SOCKADDR_NL_BYTES, 4);
    address.set(SHORT, 0, (short) AF_NETLINK);
    address.set(INT, 8, GROUPS);
    MethodHandle bind = function("bind", INT, INT, ValueLayout.ADDRESS, INT);
    if (socket < 0 || event < 0 || (int) bind.invokeExact(socket, address, SOCKADDR_NL_BYTES) != 0) {
      throw new IllegalStateException("socket, eventfd or bind failed");
    }
    pollFds.set(INT, 0, socket);
    pollFds.set(SHORT, 4, POLLIN);
    pollFds.set(INT, 8, event);
    pollFds.set(SHORT, 12, POLLIN);
  }

  /** Waits for a change or a wake-up, and takes all messages that are there. For one thread. */
  void awaitChange() {
    try {
      int ready = (int) poll.invokeExact(pollFds, 2L, -1);
      long taken = ready;
      while (taken > 0) {
        taken = (long) recv.invokeExact(socket, buffer, (long) BUFFER_BYTES, MSG_DONTWAIT);
      }
      long cleared = (long) read.invokeExact(event, buffer, LONG.byteSize());
      LOG.trace("woke up: {} ready, {} cleared", ready, cleared);
    } catch (Throwable e) {
      throw new IllegalStateException("poll failed", e);
    }
  }

  /** Lets {@link #awaitChange()} return; from any thread. */
  void wakeup() {
    try {
      long written = (long) write.invokeExact(event, one, LONG.byteSize());
      LOG.trace("wake-up written: {}", written);
    } catch (Throwable e) {
      throw new IllegalStateException("write failed", e);
    }
  }

  /** Closes the socket; nobody may wait in it. */
  @Override
  public void close() {
    closeFd(socket);
    closeFd(event);
    socket = -1;
    event = -1;
    arena.close();
  }

  private void closeFd(int fd) {
    if (fd >= 0) {
      try {
        int result = (int) closeFd.invokeExact(fd);
        LOG.trace("closed {}: {}", fd, result);
      } catch (Throwable e) {
        throw new IllegalStateException("close failed", e);
      }
    }
  }

  private static MethodHandle function(
      String name, MemoryLayout result, MemoryLayout... arguments) {
    Linker linker = Linker.nativeLinker();
    return linker.downcallHandle(
        linker.defaultLookup().find(name).orElseThrow(), FunctionDescriptor.of(result, arguments));
  }
}
