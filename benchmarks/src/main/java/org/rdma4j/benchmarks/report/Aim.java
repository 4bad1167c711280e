package org.rdma4j.benchmarks.report;

/**
 * What a quantity is compared with.
 *
 * @param least smallest good value, or NaN
 * @param most greatest good value, or NaN
 */
public record Aim(double least, double most) {
  /** Nothing is aimed at; the quantity is stated. */
  public static final Aim NONE = new Aim(Double.NaN, Double.NaN);

  /**
   * Makes an aim of the kind "at least".
   *
   * @param value smallest good value
   * @return the aim
   */
  public static Aim atLeast(double value) {
    return new Aim(value, Double.NaN);
  }

  /**
   * Makes an aim of the kind "at most".
   *
   * @param value greatest good value
   * @return the aim
   */
  public static Aim atMost(double value) {
    return new Aim(Double.NaN, value);
  }

  /**
   * Says whether a value is good.
   *
   * @param value the value
   * @return false when it misses the aim
   */
  public boolean isMetBy(double value) {
    return !(value < least || value > most);
  }

  @Override
  public String toString() {
    if (!Double.isNaN(least) && !Double.isNaN(most)) {
      return Report.number(least) + " to " + Report.number(most);
    }
    if (!Double.isNaN(least)) {
      return "≥ " + Report.number(least);
    }
    return Double.isNaN(most) ? "stated" : "≤ " + Report.number(most);
  }
}
