package org.rdma4j.tools.pci;

import java.util.List;
import org.rdma4j.pci.PciBus;
import org.rdma4j.pci.PciFunction;
import org.rdma4j.ulp.command.CommandException;

/** What is on the bus, if there is one. */
final class Functions {
  private Functions() {}

  static List<PciFunction> of(String command, PciBus bus) throws CommandException {
    if (bus == null) {
      throw new CommandException(command + ": Cannot find any working access method.");
    }
    return bus.functions();
  }
}
