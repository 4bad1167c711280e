/** {@code devlink} of iproute2, for the cards that mlx5-core drives. */
package org.rdma4j.tools.devlink;
