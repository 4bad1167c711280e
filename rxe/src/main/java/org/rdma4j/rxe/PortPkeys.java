package org.rdma4j.rxe;

import java.util.ArrayList;
import java.util.List;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.VerbsException;

/**
 * The P_Keys of a port. The kernel's device has the default one only; here there may be as many as {@code max_pkeys}
 * promises.
 *
 * @param list 16 bits each, the top one for full members; 0 for a slot without a P_Key
 */
record PortPkeys(List<Integer> list) {
  static final PortPkeys DEFAULT = new PortPkeys(List.of(0xffff));
  private static final int PARTITION = 0x7fff;

  /** Reads numbers with a comma between them; the default for an empty text. EINVAL with the reason for others. */
  static PortPkeys parse(String text) {
    if (text.isEmpty()) {
      return DEFAULT;
    }
    List<Integer> found = new ArrayList<>();
    for (String each : text.split(",", -1)) {
      found.add(parseOne(each.strip()));
    }
    if (found.size() > Limits.MAX_PKEYS) {
      throw new VerbsException(
          Errno.EINVAL, "pkeys names " + found.size() + " P_Keys, max_pkeys is " + Limits.MAX_PKEYS);
    }
    if ((found.getFirst() & PARTITION) != PARTITION) {
      throw new VerbsException(
          Errno.EINVAL, "pkeys begins with " + name(found.getFirst()) + "; the first is the default, 0xffff or 0x7fff");
    }
    return new PortPkeys(List.copyOf(found));
  }

  private static int parseOne(String text) {
    try {
      int pkey = Integer.decode(text);
      if (pkey == 0 || pkey > 0 && pkey <= 0xffff && (pkey & PARTITION) != 0) {
        return pkey;
      }
    } catch (NumberFormatException e) {
      throw new VerbsException(Errno.EINVAL, "\"" + text + "\" in pkeys is no number", e);
    }
    throw new VerbsException(
        Errno.EINVAL, text + " in pkeys is no P_Key; allowed is 0x0001 to 0xffff without 0x8000, and 0 for none");
  }

  private static String name(int pkey) {
    return String.format("0x%04x", pkey);
  }

  int size() {
    return list.size();
  }

  int get(int index) {
    return list.get(index);
  }

  int[] toArray() {
    return list.stream().mapToInt(Integer::intValue).toArray();
  }

  @Override
  public String toString() {
    return String.join(",", list.stream().map(PortPkeys::name).toList());
  }
}
