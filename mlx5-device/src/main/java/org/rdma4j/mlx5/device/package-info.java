/** What a person may see of a modelled card, and how he breaks it; drivers never need this. */
@Export
@Version("1.0.0")
package org.rdma4j.mlx5.device;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
