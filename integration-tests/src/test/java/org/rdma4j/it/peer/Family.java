package org.rdma4j.it.peer;

/**
 * Which address of each side the GIDs stand for, and connections are made between. Programs that exchange their
 * addresses over TCP always do that over IPv4.
 */
enum Family {
  IPV4(1, "::ffff:192.0.2.1", LinuxPeer.HERE, LinuxPeer.GUEST),
  IPV6(2, "2001:db8::1", "2001:db8::1", "2001:db8::2");

  private final int guestGidIndex;
  private final String gidHere;
  private final String here;
  private final String guest;

  Family(int guestGidIndex, String gidHere, String here, String guest) {
    this.guestGidIndex = guestGidIndex;
    this.gidHere = gidHere;
    this.here = here;
    this.guest = guest;
  }

  /** The address of this side. */
  String here() {
    return here;
  }

  /** The address of the guest. */
  String guest() {
    return guest;
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
