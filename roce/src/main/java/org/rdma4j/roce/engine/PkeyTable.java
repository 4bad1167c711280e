package org.rdma4j.roce.engine;

/**
 * The P_Key table of a port and the check of received packets against it. 0 in a slot means that there is none. Engine
 * thread only.
 */
final class PkeyTable {
  /** The bit of full members; the others are the partition. */
  private static final int FULL = 0x8000;

  private int[] table = {0xffff};
  private int admitted;

  void set(int[] pkeys) {
    table = pkeys.clone();
  }

  /** The P_Key at an index, whatever it is; 0 where there is none. */
  int get(int index) {
    return index >= 0 && index < table.length ? table[index] : 0;
  }

  /** The index of the P_Key that the packet admitted last came with. */
  int admittedIndex() {
    return admitted;
  }

  /**
   * IBA specification section 10.9.3: a packet is for a queue pair of its partition, and for the general services queue
   * pair where its partition is anywhere in the table.
   */
  boolean admits(int pkey, QpContext qp) {
    QpSettings settings = qp.settings();
    if (qp.kind() == QpKind.GSI) {
      admitted = find(pkey);
      return admitted >= 0;
    }
    admitted = settings.pkeyIndex;
    return matches(pkey, settings.pkey);
  }

  private int find(int pkey) {
    for (int i = 0; i < table.length; i++) {
      if (matches(pkey, table[i])) {
        return i;
      }
    }
    return -1;
  }

  /** Same partition, a real one, and not both limited members. */
  static boolean matches(int a, int b) {
    return ((a ^ b) & ~FULL) == 0 && ((a | b) & FULL) != 0 && (a & ~FULL) != 0;
  }
}
