package org.rdma4j.pci;

/**
 * Where a card keeps its MSI-X table and pending bits. The bus keeps their contents: accesses to these parts of the
 * region never reach the card.
 *
 * @param vectors entries, 1 to 2048
 * @param tableBar index of the region with the table
 * @param tableOffset where in that region, a multiple of 8
 * @param pendingBar index of the region with the pending bits
 * @param pendingOffset where in that region, a multiple of 8
 */
public record MsixLayout(int vectors, int tableBar, long tableOffset, int pendingBar, long pendingOffset) {
  private static final int MOST = 2048;

  /** Checks the ranges; EINVAL. */
  public MsixLayout {
    if (vectors < 1 || vectors > MOST || ((tableOffset | pendingOffset) & 7) != 0) {
      throw new PciException(
          PciErrno.EINVAL, "MSI-X: allowed are 1 to " + MOST + " vectors, and offsets that are multiples of 8");
    }
  }
}
