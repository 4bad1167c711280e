/**
 * {@code ucmatose}: reliable connections by the RDMA CM, several at once, and messages over them in both directions.
 * Options, lines, exit status and messages are those of the original, so that either side can be one.
 */
package org.rdma4j.ulp.ucmatose;
