package org.rdma4j.ib.core.mad;

import org.rdma4j.ib.core.verbs.AhAttributes;

/**
 * Where a MAD goes.
 *
 * @param way to the peer's port
 * @param remoteQpn the peer's queue pair, 1 for all general services
 * @param remoteQkey its Q_Key, see {@link #QKEY}
 * @param pkeyIndex slot of the local P_Key table with the P_Key of the message
 */
public record MadAddress(AhAttributes way, int remoteQpn, int remoteQkey, int pkeyIndex) {
  /** The Q_Key of queue pair 1. */
  public static final int QKEY = 0x8001_0000;

  /**
   * The queue pair 1 of a port.
   *
   * @param way to the port
   * @param pkeyIndex slot of the local P_Key table with the P_Key of the message
   */
  public MadAddress(AhAttributes way, int pkeyIndex) {
    this(way, 1, QKEY, pkeyIndex);
  }
}
