package org.rdma4j.ib.core.verbs;

/** What happened to the network interface of a port ({@code NETDEV_*} notifier events). */
public enum NetdevEvent {
  /** The interface is up and running. */
  UP,
  /** The interface went down or lost its carrier. */
  DOWN,
  /** The MTU changed. */
  CHANGE_MTU,
  /** The hardware address changed. */
  CHANGE_ADDRESS,
  /** The interface vanished. */
  UNREGISTER
}
