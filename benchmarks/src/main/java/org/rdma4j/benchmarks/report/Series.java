package org.rdma4j.benchmarks.report;

import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * What one quantity came to in each round.
 *
 * @param name of the quantity
 * @param unit of the values
 * @param values one for each round
 */
public record Series(String name, String unit, double... values) {
  /**
   * Divides round by round, so that what disturbs a round disturbs both sides of the division.
   *
   * @param ratioName name of the result
   * @param divisor series of the same rounds
   * @return the quotients
   */
  public Series over(String ratioName, Series divisor) {
    double[] quotients =
        IntStream.range(0, values.length).mapToDouble(i -> values[i] / divisor.values[i]).toArray();
    return new Series(ratioName, "1", quotients);
  }

  /**
   * Returns the least value.
   *
   * @return NaN without values
   */
  public double min() {
    return Arrays.stream(values).min().orElse(Double.NaN);
  }

  /**
   * Returns the greatest value.
   *
   * @return NaN without values
   */
  public double max() {
    return Arrays.stream(values).max().orElse(Double.NaN);
  }

  /**
   * Returns the value in the middle.
   *
   * @return the mean of the two in the middle where their number is even; NaN without values
   */
  public double median() {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    int half = sorted.length / 2;
    if (sorted.length == 0) {
      return Double.NaN;
    }
    return sorted.length % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  }

  /**
   * Finds a series by its name.
   *
   * @param all where to look
   * @param name the name
   * @return the series
   * @throws IllegalArgumentException when there is none
   */
  public static Series find(List<Series> all, String name) {
    return all.stream()
        .filter(series -> series.name().equals(name))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("no series " + name));
  }
}
