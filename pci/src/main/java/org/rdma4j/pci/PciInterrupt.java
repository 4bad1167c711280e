package org.rdma4j.pci;

/**
 * A line of {@code /proc/interrupts}.
 *
 * @param irq number of the interrupt
 * @param address the function
 * @param vector its vector
 * @param name what the driver calls it
 * @param count how often the handler was run
 */
public record PciInterrupt(int irq, PciAddress address, int vector, String name, long count) {}
