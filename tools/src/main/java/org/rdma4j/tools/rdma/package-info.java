/**
 * The {@code rdma} tool with the grammar and output of iproute2's: an object, a command, arguments, each of which
 * may be shortened. Where the real tool asks the kernel over netlink, this one asks the services of the container.
 */
package org.rdma4j.tools.rdma;
