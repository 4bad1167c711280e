/** Measurements between two processes over the loopback interface, next to what they are compared with. */
package org.rdma4j.benchmarks.speed;
