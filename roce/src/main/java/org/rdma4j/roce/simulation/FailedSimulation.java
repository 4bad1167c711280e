package org.rdma4j.roce.simulation;

/**
 * A seed that failed, made as small as it gets.
 *
 * @param seed the seed
 * @param message what was found wrong when all of it was played
 * @param before how much was played then
 * @param after how much of it is needed for the same failure
 * @param runs how many times it was played to find that out
 * @param trace the small failure: what was posted, sent, received and completed, and what was found wrong
 */
public record FailedSimulation(long seed, String message, Size before, Size after, int runs, String trace) {
  /**
   * How much is played.
   *
   * @param pairs pairs of queue pairs
   * @param operations work requests
   * @param faults packets lost, doubled, damaged, overtaken or cut off, and other trouble
   */
  public record Size(long pairs, long operations, long faults) {
    @Override
    public String toString() {
      return pairs + " pairs of queue pairs, " + operations + " operations, " + faults + " faults";
    }
  }

  /** {@return the report for a person, several lines} */
  @Override
  public String toString() {
    return "seed " + seed + " failed: " + message + "\n  of " + before + "\n  left " + after + " after " + runs
        + " runs:\n" + trace + "  repeat with: ./rdma simulate --seed " + seed + "\n";
  }
}
