package org.rdma4j.ib.core.verbs;

/**
 * Error numbers of control-path failures, with the names and numbers of Linux ({@code errno-base.h}, {@code errno.h}).
 */
public enum Errno {
  /** Operation not permitted. */
  EPERM(1, "Operation not permitted"),
  /** No such interface, link or entry. */
  ENOENT(2, "No such file or directory"),
  /** Input/output error; on objects of a removed device: the device is gone. */
  EIO(5, "Input/output error"),
  /** Nothing available now, try again. */
  EAGAIN(11, "Resource temporarily unavailable"),
  /** No room: a queue is full or a limit of the device is reached. */
  ENOMEM(12, "Cannot allocate memory"),
  /** Access refused. */
  EACCES(13, "Permission denied"),
  /** Memory that cannot be used. */
  EFAULT(14, "Bad address"),
  /** The object is in use. */
  EBUSY(16, "Device or resource busy"),
  /** Exists already. */
  EEXIST(17, "File exists"),
  /** No such device, or the device takes no new users. */
  ENODEV(19, "No such device"),
  /** Invalid argument. */
  EINVAL(22, "Invalid argument"),
  /** The name is in use ({@code ib_register_device}). */
  ENFILE(23, "Too many open files in system"),
  /** Too many open files. */
  EMFILE(24, "Too many open files"),
  /** The table has no free slot. */
  ENOSPC(28, "No space left on device"),
  /** The name is too long. */
  ENAMETOOLONG(36, "File name too long"),
  /** The operation is not implemented. */
  ENOSYS(38, "Function not implemented"),
  /** Wrong protocol. */
  EPROTOTYPE(91, "Protocol wrong type for socket"),
  /** Protocol not available. */
  EPROTONOSUPPORT(93, "Protocol not supported"),
  /** The device or provider does not support the operation. */
  EOPNOTSUPP(95, "Operation not supported"),
  /** The local port is taken. */
  EADDRINUSE(98, "Address already in use"),
  /** The address is not one of this host. */
  EADDRNOTAVAIL(99, "Cannot assign requested address"),
  /** The network is down. */
  ENETDOWN(100, "Network is down"),
  /** No route to the network. */
  ENETUNREACH(101, "Network is unreachable"),
  /** The connection is there already. */
  EISCONN(106, "Transport endpoint is already connected"),
  /** The time is over. */
  ETIMEDOUT(110, "Connection timed out"),
  /** The peer refused. */
  ECONNREFUSED(111, "Connection refused"),
  /** No route to the host. */
  EHOSTUNREACH(113, "No route to host"),
  /** Interrupted or cancelled. */
  ECANCELED(125, "Operation canceled");

  private final int number;
  private final String text;

  Errno(int number, String text) {
    this.number = number;
    this.text = text;
  }

  /** {@return the positive number, as in {@code errno}} */
  public int number() {
    return number;
  }

  /** {@return what {@code strerror} says} */
  public String text() {
    return text;
  }
}
