package org.rdma4j.tools.rdma;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.rdma4j.ib.core.verbs.RdmaDevice;
import org.rdma4j.ulp.command.CommandException;

/**
 * The devices of the container by index, and the places that people name: {@code rxe0}, {@code rxe0/1}.
 *
 * @param all the devices
 */
record Devices(List<RdmaDevice> all) {
  /**
   * A port of a device.
   *
   * @param device the device
   * @param port from 1; 0 for what has no port
   */
  record Link(RdmaDevice device, int port) {}

  Devices {
    all = all.stream().sorted(Comparator.comparingInt(RdmaDevice::index)).toList();
  }

  /** Whether there is a device of that name. */
  boolean has(String name) {
    return all.stream().anyMatch(device -> device.name().equals(name));
  }

  /** The devices named, or all. */
  List<RdmaDevice> named(String name) throws CommandException {
    if (name == null) {
      return all;
    }
    List<RdmaDevice> found = all.stream().filter(device -> device.name().equals(name)).toList();
    if (found.isEmpty()) {
      throw new CommandException("Wrong device name - " + name);
    }
    return found;
  }

  /**
   * The links named: {@code rxe0/1} a port, {@code rxe0} all of a device, {@code rxe0/-} what has no port; null all
   * links.
   *
   * @param onlyPorts leaves out what has no port
   */
  List<Link> links(String name, boolean onlyPorts) throws CommandException {
    List<Link> found = new ArrayList<>();
    if (name == null) {
      all.forEach(device -> addLinks(found, device, onlyPorts));
      return found;
    }
    int slash = name.lastIndexOf('/');
    String deviceName = slash < 0 ? name : name.substring(0, slash);
    String port = slash < 0 ? "" : name.substring(slash + 1);
    for (RdmaDevice device : all) {
      if (device.name().equals(deviceName)) {
        if (port.isEmpty()) {
          addLinks(found, device, onlyPorts);
        } else if (port.equals("-") && !onlyPorts) {
          found.add(new Link(device, 0));
        } else if (port.matches("[1-9][0-9]{0,2}") && Integer.parseInt(port) <= device.portCount()) {
          found.add(new Link(device, Integer.parseInt(port)));
        }
      }
    }
    if (found.isEmpty()) {
      throw new CommandException("Wrong device name");
    }
    return found;
  }

  private static void addLinks(List<Link> links, RdmaDevice device, boolean onlyPorts) {
    for (int port = onlyPorts ? 1 : 0; port <= device.portCount(); port++) {
      links.add(new Link(device, port));
    }
  }
}
