/**
 * What driver and card of ConnectX have in common: structures, opcodes, status codes and events, each written down once
 * (kernel: {@code include/linux/mlx5}). It knows neither of the two.
 */
@Export
@Version("1.0.0")
package org.rdma4j.mlx5.ifc;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
