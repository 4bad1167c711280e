/** {@code lspci} and {@code setpci}, as pciutils 3.9 has them. */
package org.rdma4j.tools.pci;
