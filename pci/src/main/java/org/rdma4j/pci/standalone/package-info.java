/** The bus without a container, for tests and programs that bring cards and drivers together themselves. */
@Export
@Version("1.0.0")
package org.rdma4j.pci.standalone;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
