package org.rdma4j.provider.contract.suite;

import java.util.Arrays;
import java.util.Objects;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.VerbsException;

/** How cases say what must be so. */
final class Check {
  private Check() {}

  static void that(boolean fact, String otherwise) {
    if (!fact) {
      throw new Broken(otherwise);
    }
  }

  static void equal(Object expected, Object actual, String what) {
    if (!Objects.equals(expected, actual)) {
      throw new Broken(what + " is " + actual + ", not " + expected);
    }
  }

  /** The call is refused with one of the errors. */
  static VerbsException refused(String what, Runnable call, Errno... allowed) {
    try {
      call.run();
    } catch (VerbsException e) {
      if (!Arrays.asList(allowed).contains(e.errno())) {
        throw new Broken(what + " is refused with " + e.errno() + ", not " + Arrays.toString(allowed), e);
      }
      return e;
    }
    throw new Broken(what + " is not refused; it must be, with " + Arrays.toString(allowed));
  }

  /** The call is refused with EINVAL. */
  static VerbsException invalid(String what, Runnable call) {
    return refused(what, call, Errno.EINVAL);
  }
}
