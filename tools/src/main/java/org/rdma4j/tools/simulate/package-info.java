/** Simulation of the transport engine from the command line. */
package org.rdma4j.tools.simulate;
