/** Captures of a link in pcapng, for Wireshark. */
@Export
@Version("1.0.0")
package org.rdma4j.roce.capture;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
