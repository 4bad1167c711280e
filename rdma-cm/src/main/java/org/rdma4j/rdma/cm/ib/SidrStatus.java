package org.rdma4j.rdma.cm.ib;

import java.util.Locale;
import java.util.Optional;

/** What became of a SIDR_REQ, with its number on the wire (kernel: {@code enum ib_cm_sidr_status}). */
public enum SidrStatus {
  SUCCESS,
  UNSUPPORTED,
  REJECT,
  NO_QP,
  REDIRECT,
  UNSUPPORTED_VERSION;

  /** The status with a number, if the specification has one. */
  public static Optional<SidrStatus> of(int number) {
    return number >= 0 && number < values().length ? Optional.of(values()[number]) : Optional.empty();
  }

  /** In words, for any number. */
  public static String text(int number) {
    return of(number).map(status -> status.name().toLowerCase(Locale.ROOT).replace('_', ' ')).orElse("unknown status")
        + " ("
        + number
        + ")";
  }
}
