/** Addresses of ports: GID, GUID, MAC address and path MTU. */
@Export
@Version("1.0.0")
package org.rdma4j.roce.address;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
