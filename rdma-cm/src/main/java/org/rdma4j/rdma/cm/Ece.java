package org.rdma4j.rdma.cm;

/**
 * Enhanced connection options, which vendors agree upon ({@code struct ibv_ece}).
 *
 * @param vendorId whose options they are, 24 bits, 0 for none
 * @param options 32 bits
 */
public record Ece(int vendorId, int options) {
  /** No options. */
  public static final Ece NONE = new Ece(0, 0);
}
