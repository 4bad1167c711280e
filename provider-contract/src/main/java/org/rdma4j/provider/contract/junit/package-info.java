/** The suite as dynamic tests of JUnit 5. Needs its API, which a container does not. */
@Export
@Version("1.0.0")
package org.rdma4j.provider.contract.junit;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
