/**
 * Simulation of the engine: two ports on a faulty network under virtual time, random traffic of every kind, decided by
 * a seed and repeated by it, against a model of what must come of it.
 */
@Export
@Version("1.0.0")
package org.rdma4j.roce.simulation;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
