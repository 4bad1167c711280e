package org.rdma4j.ib.core.verbs;

/**
 * What a shared receive queue is to be ({@code struct ib_srq_init_attr}).
 *
 * @param type the type
 * @param maxWr receives outstanding, 1 to max_srq_wr
 * @param maxSge scatter/gather entries of a receive, 0 to max_srq_sge
 * @param limit below how many receives the limit event is raised once; 0 for never
 */
public record SrqInitAttributes(SrqType type, int maxWr, int maxSge, int limit) {
  /**
   * A basic queue without limit.
   *
   * @param maxWr receives outstanding
   * @param maxSge scatter/gather entries of a receive
   */
  public SrqInitAttributes(int maxWr, int maxSge) {
    this(SrqType.BASIC, maxWr, maxSge, 0);
  }
}
