/**
 * {@code udaddy}: the RDMA CM resolves services to queue pairs for datagrams, and messages are exchanged with them.
 * Options, lines, exit status and messages are those of the original, so that either side can be one.
 */
package org.rdma4j.ulp.udaddy;
