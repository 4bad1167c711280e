package org.rdma4j.pci.internal;

import java.util.List;
import java.util.Optional;
import org.rdma4j.pci.PciDriver;
import org.rdma4j.pci.PciErrno;
import org.rdma4j.pci.PciException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A function and its driver (kernel: {@code drivers/base/dd.c}). Probe and remove of one function come one after the
 * other; who wants one of them while another thread is in it waits for that. No driver code runs under the lock.
 */
final class Binding {
  private static final Logger LOG = LoggerFactory.getLogger(Binding.class);

  private final Function function;
  private PciDriver driver; // this and the following guarded by this
  private DriverDevice device;
  private Thread worker;
  private boolean closed;

  Binding(Function function) {
    this.function = function;
  }

  synchronized Optional<String> driverName() {
    return worker == null || device != null ? Optional.ofNullable(driver).map(PciDriver::name) : Optional.empty();
  }

  /** The function in the hands of its driver, or null. */
  synchronized DriverDevice device() {
    return device;
  }

  synchronized PciDriver driver() {
    return device == null ? null : driver;
  }

  /** Probes with a driver, unless the function has one. */
  void bind(PciDriver candidate, InterruptController controller) {
    DriverDevice probed;
    synchronized (this) {
      claim("probe");
      if (closed || driver != null) {
        release();
        return;
      }
      driver = candidate;
      probed = new DriverDevice(function, controller);
    }
    boolean bound = false;
    try {
      candidate.probe(probed);
      bound = true;
      LOG.info("{}: driver {}", function, candidate.name());
    } catch (RuntimeException | LinkageError e) {
      LOG.error("{}: probe by {} failed: {}", function, candidate.name(), e.toString(), e);
    } finally {
      if (!bound) {
        List<String> held = probed.close();
        LOG.debug("{}: taken back after the failed probe: {}", function, held);
      }
      synchronized (this) {
        driver = bound ? candidate : null;
        device = bound ? probed : null;
        release();
      }
    }
  }

  /**
   * Takes the driver away; returns when it has given the function back.
   *
   * @param only a driver, or null for whichever it is
   * @param close whether no driver is to come after it
   */
  void unbind(PciDriver only, boolean close) {
    PciDriver leaving;
    DriverDevice taken;
    synchronized (this) {
      claim("removal");
      closed |= close;
      if (driver == null || (only != null && driver != only)) {
        release();
        return;
      }
      leaving = driver;
      taken = device;
    }
    try {
      leaving.remove(taken);
    } catch (RuntimeException | LinkageError e) {
      LOG.error("{}: {} failed in remove", function, leaving.name(), e);
    } finally {
      List<String> held = taken.close();
      if (!held.isEmpty()) {
        LOG.warn("{}: {} has not given back {}", function, leaving.name(), held);
      }
      synchronized (this) {
        driver = null;
        device = null;
        release();
      }
    }
  }

  /** One thread at a time; under the lock. */
  private void claim(String what) {
    boolean interrupted = false;
    while (worker != null) {
      if (worker == Thread.currentThread()) {
        throw new PciException(PciErrno.EDEADLK, what + " of " + function + " from its own probe or remove");
      }
      try {
        wait();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    worker = Thread.currentThread();
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void release() {
    worker = null;
    notifyAll();
  }
}
