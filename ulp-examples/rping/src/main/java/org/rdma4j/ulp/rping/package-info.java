/**
 * {@code rping}: a connection by the RDMA CM, over which the server reads what the client offers and writes it back.
 * Options, lines, exit status and the messages between the two sides are those of the original, so that either side can
 * be one.
 */
package org.rdma4j.ulp.rping;
