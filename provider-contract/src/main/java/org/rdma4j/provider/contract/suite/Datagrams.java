package org.rdma4j.provider.contract.suite;

import org.rdma4j.ib.core.verbs.AddressHandle;
import org.rdma4j.ib.core.verbs.SendWorkRequest;

/** Where datagrams go. */
final class Datagrams {
  private Datagrams() {}

  /** Sends a request of the first side to the second. */
  static SendWorkRequest to(Pair pair, SendWorkRequest request) {
    AddressHandle handle = pair.a().pd.createAh(pair.a().path(pair.b()));
    return request.ah(handle).remoteQpn(pair.b().qp().number()).remoteQkey(Side.QKEY);
  }
}
