/** {@code mlx5}: modelled cards, plugged in and out, looked into and broken. */
package org.rdma4j.tools.mlx5;
