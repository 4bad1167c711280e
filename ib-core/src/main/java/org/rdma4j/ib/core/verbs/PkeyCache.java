package org.rdma4j.ib.core.verbs;

/** The P_Key table of a port ({@code cache.c}); replaced as a whole when it changes. */
final class PkeyCache {
  private final String port;
  private final int[] pkeys;

  PkeyCache(String port, int[] pkeys) {
    this.port = port;
    this.pkeys = pkeys;
  }

  int get(int index) {
    if (index < 0 || index >= pkeys.length) {
      throw new VerbsException(
          Errno.EINVAL, "P_Key index " + index + " of " + port + " is not between 0 and " + (pkeys.length - 1));
    }
    return pkeys[index];
  }

  /** The index of a P_Key by its low 15 bits, a full member's first ({@code ib_find_cached_pkey}); -1 without. */
  int find(int pkey) {
    int limited = -1;
    for (int i = 0; i < pkeys.length; i++) {
      if ((pkeys[i] & 0x7fff) == (pkey & 0x7fff)) {
        if ((pkeys[i] & 0x8000) != 0) {
          return i;
        }
        limited = limited < 0 ? i : limited;
      }
    }
    return limited;
  }
}
