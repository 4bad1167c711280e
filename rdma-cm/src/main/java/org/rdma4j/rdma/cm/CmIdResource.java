package org.rdma4j.rdma.cm;

import java.net.InetSocketAddress;
import org.rdma4j.ib.core.verbs.QpType;

/**
 * An identifier as resource tracking has it (restrack.c, {@code RDMA_RESTRACK_CM_ID}).
 *
 * @param number counts up from 0 over all identifiers
 * @param device the device, null without one
 * @param port its port, 0 without one
 * @param qpNumber the queue pair, 0 without one
 * @param qpType type of its queue pairs
 * @param state state
 * @param portSpace space of its port
 * @param local local address, null before it has one
 * @param remote address of the peer, null before it has one
 * @param bundle symbolic name of the bundle that made it
 * @param comm program that made it
 * @param pid its process
 */
public record CmIdResource(
    int number,
    String device,
    int port,
    int qpNumber,
    QpType qpType,
    RdmaCmState state,
    PortSpace portSpace,
    InetSocketAddress local,
    InetSocketAddress remote,
    String bundle,
    String comm,
    long pid) {}
