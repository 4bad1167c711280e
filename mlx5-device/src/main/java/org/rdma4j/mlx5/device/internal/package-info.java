/** The silicon and the firmware of a ConnectX card: registers, command interface, contexts in host pages, events. */
package org.rdma4j.mlx5.device.internal;
