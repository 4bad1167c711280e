package org.rdma4j.roce.packet;

/** The RNR NAK timer codes and their times (IBA volume 1, 9.7.5.2.8, table of RNR NAK timer values). */
public final class RnrTimer {

  private static final int CODES = 32;
  private static final int LONGEST = 0;

  /** Microseconds by code. Linux uses 61410 for code 25 (sw/rxe/rxe_comp.c); this is the specification's 61440. */
  private static final int[] MICROS = {
    655360, 10, 20, 30, 40, 60, 80, 120,
    160, 240, 320, 480, 640, 960, 1280, 1920,
    2560, 3840, 5120, 7680, 10240, 15360, 20480, 30720,
    40960, 61440, 81920, 122880, 163840, 245760, 327680, 491520
  };

  private RnrTimer() {}

  /**
   * The time a requester waits at least.
   *
   * @param code the timer code; only bits 4:0 are looked at
   * @return nanoseconds, 10 000 to 655 360 000
   */
  public static long nanos(int code) {
    return MICROS[code & CODES - 1] * 1000L;
  }

  /**
   * The code of the shortest time that is not shorter than asked for.
   *
   * @param nanos the wished time in nanoseconds
   * @return 0 to 31; 0, which is the longest time, when none is long enough
   */
  public static int codeFor(long nanos) {
    for (int code = 1; code < CODES; code++) {
      if (nanos(code) >= nanos) {
        return code;
      }
    }
    return LONGEST;
  }
}
