package org.rdma4j.provider.contract.suite;

import java.util.function.Supplier;
import org.rdma4j.ib.core.verbs.RdmaDevice;

/**
 * What the suite runs on.
 *
 * @param a gives the device that asks, as it is now
 * @param b gives the device that answers, as it is now
 * @param portA the port of the first, from 1
 * @param portB the port of the second
 * @param takeOut takes the first device away and returns when it is gone; null where that is not possible
 * @param putBack brings it back and returns when it is there; null likewise
 * @param seed what random choices begin with
 */
public record Setting(
    Supplier<RdmaDevice> a,
    Supplier<RdmaDevice> b,
    int portA,
    int portB,
    Runnable takeOut,
    Runnable putBack,
    long seed) {
  boolean canUnplug() {
    return takeOut != null && putBack != null;
  }
}
