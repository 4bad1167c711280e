/** The ping-pong examples of rdma-core. */
package org.rdma4j.ulp.pingpong;
