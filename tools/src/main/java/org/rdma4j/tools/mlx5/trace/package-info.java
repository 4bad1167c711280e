/**
 * {@code mlx5 trace}: what goes over each boundary between an application and the wire. Each room shows what passes its
 * own door to a tracer, which is a service of whoever wants to look: verbs and queue entries ({@code VerbsTracer} of
 * {@code ib-core}), commands ({@code CommandTracer} of {@code mlx5-core}), registers, DMA and interrupts ({@code
 * PciTracer} of {@code pci}), packets ({@code PacketTracer} of {@code mlx5-device}). Here they are put together by time
 * and thread.
 */
package org.rdma4j.tools.mlx5.trace;
