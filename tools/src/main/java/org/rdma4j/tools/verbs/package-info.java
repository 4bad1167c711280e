/**
 * {@code ibv_devices} and {@code ibv_devinfo}, with the output of rdma-core's programs, and {@code ibv_wc_explain},
 * which rdma-core does not have.
 */
package org.rdma4j.tools.verbs;
