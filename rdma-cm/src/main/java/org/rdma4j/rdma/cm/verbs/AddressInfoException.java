package org.rdma4j.rdma.cm.verbs;

import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.VerbsException;

/** There is no such address ({@code EAI_NONAME} and its like). */
public final class AddressInfoException extends VerbsException {
  private static final long serialVersionUID = 1L;

  /** Why. */
  private final Reason reason;

  /** Why there is no address, with the numbers and texts of {@code getaddrinfo}. */
  public enum Reason {
    /** Nobody knows the name. */
    NONAME(-2, Errno.ENOENT, "Name or service not known"),
    /** The name server does not answer now. */
    AGAIN(-3, Errno.EAGAIN, "Temporary failure in name resolution"),
    /** The type of queue pairs and the port space do not go together. */
    SOCKTYPE(-7, Errno.EPROTOTYPE, "ai_socktype not supported"),
    /** There is no such service, or port. */
    SERVICE(-8, Errno.ENOENT, "Servname not supported for ai_socktype"),
    /** The host has no address of the family. */
    ADDRFAMILY(-9, Errno.EADDRNOTAVAIL, "Address family for hostname not supported");

    private final int number;
    private final Errno errno;
    private final String text;

    Reason(int number, Errno errno, String text) {
      this.number = number;
      this.errno = errno;
      this.text = text;
    }

    /** {@return the number that {@code getaddrinfo} returns} */
    public int number() {
      return number;
    }

    /** {@return what {@code gai_strerror} says} */
    public String text() {
      return text;
    }
  }

  AddressInfoException(Reason reason, String message) {
    super(reason.errno, message + ": " + reason.text());
    this.reason = reason;
  }

  AddressInfoException(Reason reason, String message, Throwable cause) {
    super(reason.errno, message + ": " + reason.text(), cause);
    this.reason = reason;
  }

  /** {@return why} */
  public Reason reason() {
    return reason;
  }
}
