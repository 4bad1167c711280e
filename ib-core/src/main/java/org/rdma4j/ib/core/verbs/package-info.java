/** Verbs: devices, their objects, and what a provider extends. */
@Export
@Version("1.0.0")
package org.rdma4j.ib.core.verbs;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
