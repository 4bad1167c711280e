/**
 * Connections by IP address and port (kernel: {@code rdma_cm}; librdmacm): identifiers, event channels, events. Begin
 * with the service {@link org.rdma4j.rdma.cm.RdmaCm}.
 */
@Export
@Version("1.0.0")
package org.rdma4j.rdma.cm;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
