/** The bus, its slots, and what brings cards and drivers together. */
package org.rdma4j.pci.internal;
