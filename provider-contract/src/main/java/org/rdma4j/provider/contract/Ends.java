package org.rdma4j.provider.contract;

import java.util.Objects;
import java.util.function.Supplier;
import org.rdma4j.ib.core.verbs.RdmaDevice;

/**
 * What the suite runs on: a device that asks and one that answers. They may be one and the same, of one provider or of
 * two; only what both have is tried. Run the suite a second time the other way round where they differ. Immutable.
 */
public final class Ends {
  private final Supplier<RdmaDevice> a;
  private final Supplier<RdmaDevice> b;
  private final int portA;
  private final int portB;
  private final Plug plug;
  private final long seed;

  private Ends(Supplier<RdmaDevice> a, Supplier<RdmaDevice> b, int portA, int portB, Plug plug, long seed) {
    this.a = Objects.requireNonNull(a, "a");
    this.b = Objects.requireNonNull(b, "b");
    this.portA = portA;
    this.portB = portB;
    this.plug = plug;
    this.seed = seed;
  }

  /**
   * Two devices that stay.
   *
   * @param a the device that asks
   * @param b the device that answers; may be the same
   * @return the ends, on port 1 of each
   */
  public static Ends of(RdmaDevice a, RdmaDevice b) {
    return of(() -> a, () -> b);
  }

  /**
   * Two devices that may go and come back, so that each is asked for anew by every case.
   *
   * @param a gives the device that asks
   * @param b gives the device that answers
   * @return the ends, on port 1 of each
   */
  public static Ends of(Supplier<RdmaDevice> a, Supplier<RdmaDevice> b) {
    return new Ends(a, b, 1, 1, null, 1);
  }

  /**
   * Chooses the ports.
   *
   * @param ofA the port of the device that asks, from 1
   * @param ofB the port of the device that answers, from 1
   * @return other ends with these
   */
  public Ends ports(int ofA, int ofB) {
    return new Ends(a, b, ofA, ofB, plug, seed);
  }

  /**
   * Tells how the device that asks is taken out under traffic; without that those cases are skipped.
   *
   * @param how the plug, or null for none
   * @return other ends with it
   */
  public Ends plug(Plug how) {
    return new Ends(a, b, portA, portB, how, seed);
  }

  /**
   * Chooses where random choices begin; the report tells the number, so that a run can be repeated.
   *
   * @param number any number
   * @return other ends with it
   */
  public Ends seed(long number) {
    return new Ends(a, b, portA, portB, plug, number);
  }

  /** {@return the device that asks, as it is now} */
  public RdmaDevice a() {
    return a.get();
  }

  /** {@return the device that answers, as it is now} */
  public RdmaDevice b() {
    return b.get();
  }

  /** {@return where random choices begin} */
  public long seed() {
    return seed;
  }

  int portA() {
    return portA;
  }

  int portB() {
    return portB;
  }

  Plug plug() {
    return plug;
  }
}
