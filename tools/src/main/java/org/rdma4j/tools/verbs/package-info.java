/** {@code ibv_devices} and {@code ibv_devinfo}, with the output of rdma-core's programs. */
package org.rdma4j.tools.verbs;
