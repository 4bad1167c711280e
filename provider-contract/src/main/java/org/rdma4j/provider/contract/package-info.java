/**
 * What every provider promises, as a suite of verbs behaviour that a vendor runs against a device of theirs: named
 * cases, each with a promise, skipped with the reason where a device does not have what it needs.
 */
@Export
@Version("1.0.0")
package org.rdma4j.provider.contract;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
