package org.rdma4j.mlx5.device.internal;

import org.rdma4j.mlx5.device.internal.Firmware.State;
import org.rdma4j.pci.PciHost;
import org.rdma4j.roce.engine.Engine;
import org.rdma4j.roce.link.Link;

/** The card from one reset to the next: its registers, its firmware, and all that commands have made. */
final class Boot {
  private final Registers registers;
  private final Capabilities capabilities = new Capabilities();
  private final Firmware firmware = new Firmware();
  private final Objects objects;
  private final PageCommands pages;

  /** Starts the firmware. Engine thread. */
  Boot(Registers registers, PciHost host, Faults faults, Link link, Engine engine, Port port) {
    this.registers = registers;
    this.objects = new Objects(firmware, capabilities, host, faults, link, engine, port, registers::eventLost);
    FunctionCommands function = new FunctionCommands(firmware, capabilities, objects);
    this.pages = new PageCommands(firmware, objects.pages(), objects.events(), host, function::wanted);
    firmware.state(State.DISABLED);
    port.start(objects.events());
  }

  Registers registers() {
    return registers;
  }

  Capabilities capabilities() {
    return capabilities;
  }

  Firmware firmware() {
    return firmware;
  }

  Objects objects() {
    return objects;
  }

  PageCommands pages() {
    return pages;
  }
}
