package org.rdma4j.ib.core.verbs;

/**
 * What a shared receive queue is to be ({@code struct ib_srq_init_attr}).
 *
 * @param type the type
 * @param maxWr receives outstanding, 1 to max_srq_wr
 * @param maxSge scatter/gather entries of a receive, 0 to max_srq_sge
 * @param limit below how many receives the limit event is raised once; 0 for never
 * @param xrcd of the type XRC, the domain whose targets may use it; else null
 * @param cq of the type XRC, the queue for its completions; else null
 */
public record SrqInitAttributes(
    SrqType type, int maxWr, int maxSge, int limit, XrcDomain xrcd, CompletionQueue cq) {
  /**
   * A queue of no XRC domain.
   *
   * @param type the type
   * @param maxWr receives outstanding
   * @param maxSge scatter/gather entries of a receive
   * @param limit below how many receives the limit event is raised once; 0 for never
   */
  public SrqInitAttributes(SrqType type, int maxWr, int maxSge, int limit) {
    this(type, maxWr, maxSge, limit, null, null);
  }

  /**
   * A basic queue without limit.
   *
   * @param maxWr receives outstanding
   * @param maxSge scatter/gather entries of a receive
   */
  public SrqInitAttributes(int maxWr, int maxSge) {
    this(SrqType.BASIC, maxWr, maxSge, 0);
  }

  /**
   * A queue of the type XRC without limit ({@code ibv_create_srq_ex}).
   *
   * @param maxWr receives outstanding
   * @param maxSge scatter/gather entries of a receive
   * @param xrcd the domain whose targets may use it
   * @param cq the queue for its completions
   */
  public SrqInitAttributes(int maxWr, int maxSge, XrcDomain xrcd, CompletionQueue cq) {
    this(SrqType.XRC, maxWr, maxSge, 0, xrcd, cq);
  }
}
