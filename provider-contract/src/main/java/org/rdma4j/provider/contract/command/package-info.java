/** The shell's entry to the suite. */
package org.rdma4j.provider.contract.command;
