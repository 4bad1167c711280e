package org.rdma4j.roce.engine;

/**
 * What is fixed when a queue pair is made.
 *
 * @param number queue pair number, 24 bits
 * @param kind transport service
 * @param protectionDomain number of the protection domain its memory accesses are checked against
 * @param signalsAll whether every send completes with a completion, signaled or not ({@code sq_sig_type})
 * @param sendDepth most send work requests outstanding
 * @param maxSendSge most scatter/gather elements of a send
 * @param maxReceiveSge most scatter/gather elements of a receive
 */
public record QpProfile(
    int number,
    QpKind kind,
    int protectionDomain,
    boolean signalsAll,
    int sendDepth,
    int maxSendSge,
    int maxReceiveSge) {}
