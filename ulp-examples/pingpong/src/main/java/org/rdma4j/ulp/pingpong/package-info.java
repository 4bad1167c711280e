/**
 * The ping-pong programs of libibverbs: options, lines of output and the exchange of addresses over TCP are theirs, so
 * that either side can be the original.
 */
package org.rdma4j.ulp.pingpong;
