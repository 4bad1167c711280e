/**
 * What makes RDMA programs short (librdmacm: {@code rdma_getaddrinfo}, {@code rdma_create_ep}, {@code rdma_verbs.h}):
 * addresses by name, identifiers that are ready for use, and posting and waiting in one call each.
 */
@Export
@Version("1.0.0")
package org.rdma4j.rdma.cm.verbs;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
