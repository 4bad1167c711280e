/**
 * {@code mckey}: queue pairs join a multicast group by the RDMA CM, and send to it or receive from it. Options, lines,
 * exit status and messages are those of the original, so that either side can be one.
 */
package org.rdma4j.ulp.mckey;
