package org.rdma4j.provider.contract.suite;

import java.util.EnumSet;
import java.util.Set;
import org.rdma4j.ib.core.verbs.Access;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.roce.address.PathMtu;

/** How two queue pairs are connected; what is not said is patient and has all rights. */
final class Way {
  static final Way USUAL = new Way();

  PathMtu mtu; // null: 1024, or what the ports have
  int timeout = 16;
  int retries = 7;
  int rnrRetries = 7;
  int reads = 4;
  Set<Access> rights = EnumSet.of(Access.REMOTE_WRITE, Access.REMOTE_READ, Access.REMOTE_ATOMIC);

  static Way usual() {
    return new Way();
  }

  Way mtu(PathMtu value) {
    mtu = value;
    return this;
  }

  Way timeout(int code, int count) {
    timeout = code;
    retries = count;
    return this;
  }

  Way rnrRetries(int count) {
    rnrRetries = count;
    return this;
  }

  Way rights(Set<Access> value) {
    rights = value;
    return this;
  }

  Set<Access> rightsOf(QpType type) {
    EnumSet<Access> possible = EnumSet.noneOf(Access.class);
    possible.addAll(rights);
    if (type == QpType.UC) {
      possible.retainAll(EnumSet.of(Access.REMOTE_WRITE));
    }
    return possible;
  }
}
