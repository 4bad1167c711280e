/** The transport engine: requester, responder and completer of RC, UC and UD. */
@Export
@Version("1.0.0")
package org.rdma4j.roce.engine;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
