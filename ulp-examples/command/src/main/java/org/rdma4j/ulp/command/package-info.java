/** What the command line programs share: options in the manner of the C library, exit status and streams. */
@Export
@Version("1.0.0")
package org.rdma4j.ulp.command;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
