/** A port's way to the network, and the clock it lives by. */
@Export
@Version("1.0.0")
package org.rdma4j.roce.link;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
