package org.rdma4j.roce.link;

/** The errno values a link meets, as in Linux {@code asm-generic/errno-base.h} and {@code errno.h}. */
enum LinkErrno {
  EPERM(1),
  EINTR(4),
  EIO(5),
  EBADF(9),
  EAGAIN(11),
  ENOMEM(12),
  EACCES(13),
  EBUSY(16),
  ENODEV(19),
  EINVAL(22),
  ENFILE(23),
  EMFILE(24),
  EPIPE(32),
  EMSGSIZE(90),
  ENOPROTOOPT(92),
  EOPNOTSUPP(95),
  EAFNOSUPPORT(97),
  EADDRINUSE(98),
  EADDRNOTAVAIL(99),
  ENETDOWN(100),
  ENETUNREACH(101),
  ENOBUFS(105),
  ECONNREFUSED(111),
  EHOSTDOWN(112),
  EHOSTUNREACH(113);

  private final int number;

  LinkErrno(int number) {
    this.number = number;
  }

  int number() {
    return number;
  }

  LinkException exception(String message) {
    return new LinkException(name(), number, message);
  }

  LinkException exception(String message, Throwable cause) {
    return new LinkException(name(), number, message, cause);
  }

  static String nameOf(int number) {
    for (LinkErrno errno : values()) {
      if (errno.number == number) {
        return errno.name();
      }
    }
    return "errno " + number;
  }
}
