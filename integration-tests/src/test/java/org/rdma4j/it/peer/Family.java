package org.rdma4j.it.peer;

/** Which address of each side the GIDs stand for. The TCP exchange of the programs always goes over IPv4. */
enum Family {
  IPV4(1, "::ffff:192.0.2.1"),
  IPV6(2, "2001:db8::1");

  private final int guestGidIndex;
  private final String gidHere;

  Family(int guestGidIndex, String gidHere) {
    this.guestGidIndex = guestGidIndex;
    this.gidHere = gidHere;
  }

  /** The index in the guest's GID table, which is always the same. */
  int guestGidIndex() {
    return guestGidIndex;
  }

  /** The GID of this side, as {@code ibv_devinfo -v} prints it. */
  String gidHere() {
    return gidHere;
  }
}
