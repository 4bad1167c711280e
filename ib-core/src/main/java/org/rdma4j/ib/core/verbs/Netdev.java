package org.rdma4j.ib.core.verbs;

import org.rdma4j.roce.address.MacAddress;

/**
 * A network interface as a port sees it.
 *
 * @param name the name, such as {@code eth0}
 * @param index the kernel's index of the interface
 * @param up true where it is up and running
 * @param mtu bytes of the longest IP packet
 * @param mac the hardware address, or null where it has none
 */
public record Netdev(String name, int index, boolean up, int mtu, MacAddress mac) {}
