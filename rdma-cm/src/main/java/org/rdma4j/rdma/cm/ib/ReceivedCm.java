package org.rdma4j.rdma.cm.ib;

import java.lang.foreign.MemorySegment;

/**
 * A message that came.
 *
 * @param mad its 256 bytes, unchanged as long as it is looked at
 * @param from the way back to who sent it: local is the GID that it came to, the hop limit that of its GRH
 */
public record ReceivedCm(MemorySegment mad, CmAddress from) {}
