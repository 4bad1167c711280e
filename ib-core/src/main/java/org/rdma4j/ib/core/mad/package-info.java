/** Management datagrams: their format, and agents that send and receive them through the queue pair 1 of a port. */
@Export
@Version("1.0.0")
package org.rdma4j.ib.core.mad;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
