package org.rdma4j.roce.engine;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** Values of the {@link EngineCounter}s: written by the engine thread alone, read by any. */
public final class EngineCounters {
  private static final VarHandle VALUE = MethodHandles.arrayElementVarHandle(long[].class);
  private final long[] values = new long[EngineCounter.values().length];

  EngineCounters() {}

  /**
   * {@return the present value; a reader on another thread may see it a moment late}
   *
   * @param counter which
   */
  public long get(EngineCounter counter) {
    return (long) VALUE.getOpaque(values, counter.ordinal());
  }

  /**
   * Counts one event; engine thread only.
   *
   * @param counter which
   */
  public void increment(EngineCounter counter) {
    int i = counter.ordinal();
    VALUE.setOpaque(values, i, values[i] + 1);
  }
}
