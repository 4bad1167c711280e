/**
 * The command {@code pv}: verbs scenarios, one after the other, with another {@code pv} or with the program of the same
 * name that runs on Linux over python3-pyverbs. What a ping-pong does not show: WRITE, READ, atomics, immediates,
 * invalidate, and how each error ends on either side.
 */
package org.rdma4j.ulp.pingpong.pv;
