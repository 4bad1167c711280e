/** The PCI driver: bring-up and teardown, the command interface, pages, event queues, health. */
package org.rdma4j.mlx5.core.internal;
