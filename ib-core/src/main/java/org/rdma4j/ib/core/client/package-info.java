/** In-kernel style clients of devices, and the makers of links. */
@Export
@Version("1.0.0")
package org.rdma4j.ib.core.client;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
