package org.rdma4j.rdma.cm;

import org.rdma4j.ib.core.verbs.AhAttributes;

/**
 * Where datagrams go ({@code struct rdma_ud_param}).
 *
 * @param privateData of the peer: of a request 180 bytes, of its acceptance 136
 * @param way for an address handle; null in a request, whose peer is found by its first datagram
 * @param qpNumber queue pair of the peer, 0xFFFFFF of a multicast group
 * @param qkey its Q_Key
 */
public record DatagramParameters(byte[] privateData, AhAttributes way, int qpNumber, int qkey) {}
