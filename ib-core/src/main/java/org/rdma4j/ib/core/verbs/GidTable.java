package org.rdma4j.ib.core.verbs;

import java.util.List;
import org.osgi.annotation.versioning.ProviderType;
import org.rdma4j.roce.address.Gid;

/** The GID table of a port, served from the core's cache ({@code cache.c}); safe for any thread. */
@ProviderType
public interface GidTable {
  /** {@return how many slots there are} */
  int size();

  /**
   * Reads a slot.
   *
   * @param index 0 to {@link #size()} - 1
   * @return the entry, or null where the slot is empty
   */
  GidEntry entry(int index);

  /**
   * Looks a GID up.
   *
   * @param gid the GID
   * @return the entry with the lowest index, or null
   */
  GidEntry find(Gid gid);

  /** {@return the entries by ascending index: a consistent snapshot} */
  List<GidEntry> entries();
}
