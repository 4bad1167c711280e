/** Headers of RoCEv2 packets as flyweights over memory, the opcode table and the ICRC. */
@Export
@Version("1.0.0")
package org.rdma4j.roce.packet;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
