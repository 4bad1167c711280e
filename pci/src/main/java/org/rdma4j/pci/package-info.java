/**
 * PCI as a driver and a card see it (kernel: {@code drivers/pci}, {@code include/linux/pci.h}).
 *
 * <p>A card is a service of type {@link org.rdma4j.pci.PciCard}, a driver one of type {@link
 * org.rdma4j.pci.PciDriver}; the bus brings them together by vendor and device id. The two know each other only through
 * configuration space, memory regions (BARs), DMA and interrupts.
 */
@Export
@Version("1.0.0")
package org.rdma4j.pci;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
