package org.rdma4j.ib.core.verbs;

import org.rdma4j.roce.address.Gid;

/**
 * A valid slot of a port's GID table ({@code struct ib_gid_attr}); immutable. A holder of an entry keeps its slot from
 * being given to another GID only where it is a queue pair or an address handle.
 *
 * @param port the port, from 1
 * @param index the slot, from 0
 * @param gid the GID
 * @param type what it stands for on the wire
 * @param netdev the network interface that carries the address, or null
 */
public record GidEntry(int port, int index, Gid gid, GidType type, String netdev) {}
