package org.rdma4j.roce.engine;

/**
 * Deadlines of queue pairs, to about 16 microseconds. A deadline that only moves later, as the transport timer does
 * with each acknowledge, costs nothing: the queue pair is looked at in its old slot and put into a later one.
 */
final class TimerWheel {
  /** Tick of a queue pair that is in no slot. */
  static final long NOT_ARMED = Long.MIN_VALUE;

  private static final int TICK_SHIFT = 14;
  private static final int SLOTS = 4096;

  private final QpContext[] slots = new QpContext[SLOTS];
  private long current;
  private int armed;

  TimerWheel(long now) {
    current = now >> TICK_SHIFT;
  }

  /** Makes sure that the queue pair is looked at no later than its deadline, rounded up to a tick. */
  void arm(QpContext qp) {
    long wanted = tickOf(qp.deadline());
    if (qp.timerTick != NOT_ARMED) {
      if (qp.timerTick - wanted <= 0) {
        return;
      }
      unlink(qp);
    }
    long tick = Math.min(wanted, current + SLOTS - 1);
    link(qp, Math.max(tick, current + 1));
  }

  void disarm(QpContext qp) {
    if (qp.timerTick != NOT_ARMED) {
      unlink(qp);
    }
  }

  /** Calls every queue pair whose deadline has passed; returns how many were looked at. */
  int expire(long now) {
    long until = now >> TICK_SHIFT;
    if (armed == 0) {
      current = Math.max(current, until);
      return 0;
    }
    int looked = 0;
    long from = current + 1;
    if (until - from >= SLOTS) {
      from = until - SLOTS + 1;
    }
    for (long tick = from; tick <= until; tick++) {
      current = tick;
      int slot = (int) tick & SLOTS - 1;
      // Always the first: a host that is called may destroy others, and nothing is armed into the present slot.
      for (QpContext qp = slots[slot]; qp != null; qp = slots[slot]) {
        unlink(qp);
        looked++;
        if (qp.deadline() != Long.MAX_VALUE) {
          if (qp.deadline() - now <= 0) {
            qp.onTimer(now);
          } else {
            arm(qp);
          }
        }
      }
    }
    return looked;
  }

  /** When {@link #expire} should be called next, or {@link Long#MAX_VALUE}. */
  long next() {
    if (armed > 0) {
      for (long tick = current + 1; tick < current + SLOTS; tick++) {
        if (slots[(int) tick & SLOTS - 1] != null) {
          return tick << TICK_SHIFT;
        }
      }
    }
    return Long.MAX_VALUE;
  }

  private static long tickOf(long nanos) {
    return (nanos >> TICK_SHIFT) + 1;
  }

  private void link(QpContext qp, long tick) {
    int slot = (int) tick & SLOTS - 1;
    qp.timerTick = tick;
    qp.timerPrevious = null;
    qp.timerNext = slots[slot];
    if (qp.timerNext != null) {
      qp.timerNext.timerPrevious = qp;
    }
    slots[slot] = qp;
    armed++;
  }

  private void unlink(QpContext qp) {
    if (qp.timerPrevious != null) {
      qp.timerPrevious.timerNext = qp.timerNext;
    } else {
      slots[(int) qp.timerTick & SLOTS - 1] = qp.timerNext;
    }
    if (qp.timerNext != null) {
      qp.timerNext.timerPrevious = qp.timerPrevious;
    }
    qp.timerNext = null;
    qp.timerPrevious = null;
    qp.timerTick = NOT_ARMED;
    armed--;
  }
}
