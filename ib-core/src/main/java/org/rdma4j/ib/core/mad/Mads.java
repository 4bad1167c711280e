package org.rdma4j.ib.core.mad;

import org.osgi.annotation.versioning.ProviderType;
import org.rdma4j.ib.core.verbs.RdmaDevice;

/** The MAD layer (kernel: mad.c), a service of the core. It has the queue pair 1 of every port that is able to. */
@ProviderType
public interface Mads {
  /**
   * Makes an agent of a port (kernel: {@code ib_register_mad_agent}).
   *
   * @param device the device
   * @param port the port, from 1
   * @param registration which MADs it wants that nobody asked for, or null for answers only
   * @param receiver who gets them
   * @return the agent
   * @throws org.rdma4j.ib.core.verbs.VerbsException EINVAL for a class, version or method that there is not, or that
   *     another agent of the port has; EPROTONOSUPPORT for a port without general services; ENODEV for a device that is
   *     gone
   */
  MadAgent register(RdmaDevice device, int port, MadRegistration registration, MadReceiver receiver);
}
