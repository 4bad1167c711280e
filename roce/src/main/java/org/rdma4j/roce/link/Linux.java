package org.rdma4j.roce.link;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * The Linux system calls of {@link UdpLink} through {@code java.lang.foreign}: sockets, polling and an event file
 * descriptor. Constants and layouts are those of 64-bit Linux (x86-64 and aarch64 agree on all of them).
 *
 * <p>Calls return what the C function returns, or minus the errno. Memory is passed by address, so a call allocates
 * nothing; whoever calls keeps the memory alive. The calls of the data path do not capture errno, since that makes an
 * object where the compiler does not see all of the call at once: a failed send is made a second time to learn why,
 * and a failed receive is taken for one that found nothing. An instance belongs to one thread at a time, since it
 * holds the place where errno is left; {@link #wake(int)} is for any thread.
 */
class Linux {
  static final int AF_INET = 2;
  static final int AF_INET6 = 10;
  static final int SOCK_DGRAM = 2;
  static final int SOCK_NONBLOCK = 0x800;
  static final int SOCK_CLOEXEC = 0x80000;
  static final int EFD_NONBLOCK = 0x800;
  static final int EFD_CLOEXEC = 0x80000;
  static final short POLLIN = 1;
  static final short POLLOUT = 4;
  static final short POLLERR = 8;
  static final short POLLHUP = 0x10;
  static final short POLLNVAL = 0x20;
  static final int MSG_TRUNC = 0x20;
  static final int MSG_DONTWAIT = 0x40;

  static final int SOL_SOCKET = 1;
  static final int SO_REUSEADDR = 2;
  static final int SO_SNDBUF = 7;
  static final int SO_RCVBUF = 8;
  static final int SO_SNDBUFFORCE = 32;
  static final int SO_RCVBUFFORCE = 33;

  static final int SOL_IP = 0;
  static final int IP_TOS = 1;
  static final int IP_TTL = 2;
  static final int IP_MTU_DISCOVER = 10;
  static final int IP_RECVTTL = 12;
  static final int IP_RECVTOS = 13;
  static final int IP_PMTUDISC_DO = 2;
  static final int IP_MULTICAST_IF = 32;
  static final int IP_MULTICAST_TTL = 33;
  static final int IP_ADD_MEMBERSHIP = 35;
  static final int IP_MULTICAST_ALL = 49;

  static final int SOL_IPV6 = 41;
  static final int IPV6_FLOWINFO = 11;
  static final int IPV6_UNICAST_HOPS = 16;
  static final int IPV6_MULTICAST_IF = 17;
  static final int IPV6_MULTICAST_HOPS = 18;
  static final int IPV6_JOIN_GROUP = 20;
  static final int IPV6_MTU_DISCOVER = 23;
  static final int IPV6_V6ONLY = 26;
  static final int IPV6_MULTICAST_ALL = 29;
  static final int IPV6_RECVHOPLIMIT = 51;
  static final int IPV6_HOPLIMIT = 52;
  static final int IPV6_TCLASS = 67;

  static final int SOL_UDP = 17;
  static final int UDP_NO_CHECK6_RX = 102;
  static final int UDP_SEGMENT = 103;
  static final int UDP_GRO = 104;

  /** {@code struct sockaddr_in} and {@code sockaddr_in6}. */
  static final int SOCKADDR_IN_SIZE = 16;

  static final int SOCKADDR_IN6_SIZE = 28;
  static final int SIN_PORT = 2;
  static final int SIN_ADDR = 4;
  static final int SIN6_ADDR = 8;
  static final int SIN6_SCOPE_ID = 24;

  /** {@code struct ip_mreqn}: group, local address, index of the interface. */
  static final int IP_MREQN_SIZE = 12;

  static final int IMR_IFINDEX = 8;

  /** {@code struct ipv6_mreq}: group, index of the interface. */
  static final int IPV6_MREQ_SIZE = 20;

  static final int IPV6MR_INTERFACE = 16;

  /** {@code struct mmsghdr}: a {@code struct msghdr}, then the length that was transferred. */
  static final int MMSGHDR_SIZE = 64;

  static final int MSG_NAME = 0;
  static final int MSG_NAMELEN = 8;
  static final int MSG_IOV = 16;
  static final int MSG_IOVLEN = 24;
  static final int MSG_CONTROL = 32;
  static final int MSG_CONTROLLEN = 40;
  static final int MSG_FLAGS = 48;
  static final int MSG_LEN = 56;

  /** {@code struct iovec}. */
  static final int IOVEC_SIZE = 16;

  static final int IOV_BASE = 0;
  static final int IOV_LEN = 8;

  /** {@code struct cmsghdr}, followed by its data; the next one starts at a multiple of 8. */
  static final int CMSG_HEADER = 16;

  static final int CMSG_LEN = 0;
  static final int CMSG_LEVEL = 8;
  static final int CMSG_TYPE = 12;

  /** {@code struct pollfd}. */
  static final int POLLFD_SIZE = 8;

  static final int POLLFD_FD = 0;
  static final int POLLFD_EVENTS = 4;
  static final int POLLFD_REVENTS = 6;

  private static final Linker LINKER = Linker.nativeLinker();
  private static final Linker.Option CAPTURE = Linker.Option.captureCallState("errno");
  private static final long ERRNO_OFFSET =
      Linker.Option.captureStateLayout().byteOffset(MemoryLayout.PathElement.groupElement("errno"));

  private static final MethodHandle SOCKET =
      handle("socket", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT), CAPTURE);
  private static final MethodHandle BIND =
      handle("bind", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_INT), CAPTURE);
  private static final MethodHandle SETSOCKOPT =
      handle(
          "setsockopt",
          FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_INT),
          CAPTURE);
  private static final FunctionDescriptor SENDTO_DESCRIPTOR =
      FunctionDescriptor.of(JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_INT);
  private static final FunctionDescriptor SENDMMSG_DESCRIPTOR =
      FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_INT);
  private static final MethodHandle SENDTO = handle("sendto", SENDTO_DESCRIPTOR);
  private static final MethodHandle SENDTO_AGAIN = handle("sendto", SENDTO_DESCRIPTOR, CAPTURE);
  private static final MethodHandle SENDMMSG = handle("sendmmsg", SENDMMSG_DESCRIPTOR);
  private static final MethodHandle SENDMMSG_AGAIN = handle("sendmmsg", SENDMMSG_DESCRIPTOR, CAPTURE);
  private static final MethodHandle RECVMMSG =
      handle("recvmmsg", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_LONG));
  private static final MethodHandle PPOLL =
      handle("ppoll", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle EVENTFD =
      handle("eventfd", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT), CAPTURE);
  private static final MethodHandle READ =
      handle("read", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle CLOSE = handle("close", FunctionDescriptor.of(JAVA_INT, JAVA_INT), CAPTURE);
  private static final MethodHandle EVENTFD_WRITE =
      handle("eventfd_write", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG));

  private final MemorySegment state = Arena.ofAuto().allocate(Linker.Option.captureStateLayout());
  private final MemorySegment word = Arena.ofAuto().allocate(JAVA_LONG);

  private static MethodHandle handle(String name, FunctionDescriptor descriptor, Linker.Option... options) {
    return LINKER.downcallHandle(LINKER.defaultLookup().findOrThrow(name), descriptor, options);
  }

  int socket(int family, int type, int protocol) {
    try {
      return result((int) SOCKET.invokeExact(state, family, type, protocol));
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  int bind(int fd, MemorySegment address) {
    try {
      return result((int) BIND.invokeExact(state, fd, address.address(), (int) address.byteSize()));
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  int setOption(int fd, int level, int option, int value) {
    word.set(JAVA_INT, 0, value);
    return setOption(fd, level, option, word.asSlice(0, Integer.BYTES));
  }

  int setOption(int fd, int level, int option, MemorySegment value) {
    int length = (int) value.byteSize();
    try {
      return result((int) SETSOCKOPT.invokeExact(state, fd, level, option, value.address(), length));
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /** Sends one datagram without control messages; returns its length, or minus errno. */
  int sendTo(int fd, long data, long length, MemorySegment address) {
    long to = address.address();
    int toLength = (int) address.byteSize();
    try {
      long sent = (long) SENDTO.invokeExact(fd, data, length, MSG_DONTWAIT, to, toLength);
      return sent >= 0
          ? (int) sent
          : result((int) (long) SENDTO_AGAIN.invokeExact(state, fd, data, length, MSG_DONTWAIT, to, toLength));
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /** Returns how many of the messages were sent, at least 1, or minus the errno of the first one. */
  int sendMessages(int fd, long messages, int count) {
    try {
      int sent = (int) SENDMMSG.invokeExact(fd, messages, count, MSG_DONTWAIT);
      return sent >= 0 ? sent : result((int) SENDMMSG_AGAIN.invokeExact(state, fd, messages, count, MSG_DONTWAIT));
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /** Returns how many messages were received, or -1 when there are none or the call failed. */
  int receiveMessages(int fd, long messages, int count) {
    try {
      return (int) RECVMMSG.invokeExact(fd, messages, count, MSG_DONTWAIT, 0L);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /** Returns how many descriptors have events, 0 when the time is over, or -1 when the call failed. */
  int poll(long descriptors, int count, long timespec) {
    try {
      return (int) PPOLL.invokeExact(descriptors, (long) count, timespec, 0L);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  int eventFd() {
    try {
      return result((int) EVENTFD.invokeExact(state, 0, EFD_NONBLOCK | EFD_CLOEXEC));
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /** Takes the count of an event file descriptor back to 0. */
  void drainEventFd(int fd) {
    try {
      long ignored = (long) READ.invokeExact(fd, word.address(), (long) Long.BYTES);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  int close(int fd) {
    try {
      return result((int) CLOSE.invokeExact(state, fd));
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /** Makes an event file descriptor readable; from any thread. */
  static void wake(int fd) {
    try {
      int ignored = (int) EVENTFD_WRITE.invokeExact(fd, 1L);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  private int result(int returned) {
    return returned >= 0 ? returned : -state.get(JAVA_INT, ERRNO_OFFSET);
  }

  private static RuntimeException unexpected(Throwable e) {
    if (e instanceof Error error) {
      throw error;
    }
    return new IllegalStateException("a system call could not be made", e);
  }
}
