package org.rdma4j.rdma.cm.ib;

import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.address.PathMtu;

/**
 * The way that the queue pairs of a connection use (kernel: {@code struct sa_path_rec}).
 *
 * @param address ends, P_Key and header fields
 * @param mtu of its packets
 * @param rate code of the static rate, 0 that of the port
 * @param lifeTime exponent of what a packet takes at most, 4.096 us to the power of it; 18 on RoCE
 */
public record CmPath(CmAddress address, PathMtu mtu, int rate, int lifeTime) {
  Gid local() {
    return address.local();
  }

  Gid remote() {
    return address.remote();
  }
}
