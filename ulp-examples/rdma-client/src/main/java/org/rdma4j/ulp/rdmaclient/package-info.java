/**
 * {@code rdma_client} and {@code rdma_server}: one message each way, by the helpers of the connection manager that wait
 * for what they begin. Options, lines, exit status and messages are those of the originals, so that either side can be
 * one.
 */
package org.rdma4j.ulp.rdmaclient;
