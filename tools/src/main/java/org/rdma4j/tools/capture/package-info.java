/** {@code ibdump}: the packets of a device in a file for Wireshark. */
package org.rdma4j.tools.capture;
