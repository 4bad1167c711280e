/**
 * {@code cmtime}: how long each step of connecting and disconnecting by the RDMA CM takes, over many connections.
 * Options, lines and exit status are those of the original, so that either side can be one.
 */
package org.rdma4j.ulp.cmtime;
