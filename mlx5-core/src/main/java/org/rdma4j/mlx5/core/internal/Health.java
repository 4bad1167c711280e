package org.rdma4j.mlx5.core.internal;

import java.util.List;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.rdma4j.mlx5.core.HealthReporter;
import org.rdma4j.pci.PciChannelState;
import org.rdma4j.pci.PciDevice;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks after the card at intervals (kernel: {@code health.c}): a fatal sensor starts the recovery, a counter that does
 * not move and a new syndrome are reported. One thread, which recovers too.
 */
final class Health {
  private static final Logger LOG = LoggerFactory.getLogger(Health.class);
  private static final int MISSES = 3;
  private static final int JITTER_MILLIS = 1_000;
  private static final int UNREADABLE = -1;

  private final CoreDevice device;
  private final PciDevice pci;
  private final Timeouts timeouts;
  private final Worker work;
  private final Reporter firmware = new Reporter("fw", false, 0);
  private final Reporter fatal;
  private InitSegment registers; // this and the following guarded by this
  private ScheduledFuture<?> timer;
  private int counter;
  private int misses;
  private int syndrome;
  private long lastRecovery;
  private boolean recoveredBefore;
  private volatile boolean draining;

  Health(CoreDevice device, PciDevice pci, Timeouts timeouts, long graceMillis) {
    this.device = device;
    this.pci = pci;
    this.timeouts = timeouts;
    this.fatal = new Reporter("fw_fatal", true, graceMillis);
    this.work = new Worker("mlx5-health/" + pci.address());
  }

  List<HealthReporter> reporters() {
    return List.of(firmware.snapshot(), fatal.snapshot());
  }

  void grace(long millis) {
    fatal.grace(millis);
  }

  boolean isFatal() {
    return !fatal.isHealthy();
  }

  boolean isDraining() {
    return draining;
  }

  /** Starts to look. */
  synchronized void start(InitSegment newRegisters) {
    registers = newRegisters;
    counter = newRegisters.healthCounter();
    misses = 0;
    syndrome = 0;
    schedule();
  }

  private synchronized void schedule() {
    if (registers != null && !work.isShutdown()) {
      long interval = timeouts.millis(Timeout.HEALTH_POLL_INTERVAL);
      int jitter = Math.clamp(interval / 2, 1, JITTER_MILLIS);
      long delay = interval + ThreadLocalRandom.current().nextInt(jitter);
      timer = work.schedule(this::poll, delay, TimeUnit.MILLISECONDS);
    }
  }

  /** Does not look any more. A look that is going on may end later. */
  synchronized void stop() {
    registers = null;
    if (timer != null) {
      timer.cancel(false);
      timer = null;
    }
  }

  private void poll() {
    InitSegment now;
    synchronized (this) {
      now = registers;
    }
    if (now == null) {
      return;
    }
    String sensor = sensor(now, pci.channelState());
    if (sensor != null) {
      fatal(now, sensor);
      return;
    }
    look(now);
    schedule();
  }

  /** What says that nothing works any more, in the kernel's order, or null. */
  static String sensor(InitSegment registers, PciChannelState channel) {
    if (registers.health("fw_ver") == UNREADABLE) {
      return "PCI communication";
    }
    if (channel != PciChannelState.NORMAL) {
      return "PCI channel is offline";
    }
    if (registers.nicState() == InitSegment.NIC_DISABLED) {
      return "NIC is disabled";
    }
    if (registers.nicState() == InitSegment.NIC_SW_RESET) {
      return "NIC is in software reset";
    }
    if (registers.health("request_for_reset") != 0 && registers.health("synd") != 0) {
      return "firmware asks for a reset: " + InitSegment.syndromeText(registers.health("synd"));
    }
    return null;
  }

  private void look(InitSegment now) {
    int seen = now.healthCounter();
    int current = now.health("synd");
    String report = null;
    synchronized (this) {
      misses = seen == counter ? misses + 1 : 0;
      counter = seen;
      if (misses == MISSES) {
        report = "health counter does not move";
      }
      if (current != 0 && current != syndrome) {
        report = "new syndrome: " + InitSegment.syndromeText(current);
      }
      syndrome = current;
    }
    if (report != null) {
      LOG.error("{}: {}; {}", device.name(), report, now.describeHealth());
      firmware.error(report + "; " + now.describeHealth());
    }
  }

  /** Everything ends now, and begins anew when the grace period allows it. */
  private void fatal(InitSegment now, String sensor) {
    String dump = sensor + "; " + now.describeHealth();
    LOG.error("{}: fatal error: {}", device.name(), dump);
    fatal.error(dump);
    device.enterErrorState();
    if (draining) {
      return;
    }
    boolean inGrace;
    synchronized (this) {
      inGrace =
          recoveredBefore
              && TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - lastRecovery) < fatal.grace();
    }
    try {
      if (inGrace) {
        LOG.error("{}: the last recovery was less than {} ms ago: giving up", device.name(), fatal.grace());
        device.unload();
      } else {
        recover();
      }
    } catch (RuntimeException | LinkageError e) {
      LOG.error("{}: recovery failed: {}", device.name(), e.getMessage(), e);
    }
  }

  /** Lets the card go down and come up. */
  void recover() {
    device.recoverNow();
    synchronized (this) {
      lastRecovery = System.nanoTime();
      recoveredBefore = true;
    }
    fatal.recovered();
    LOG.info("{}: recovered", device.name());
  }

  /** Ends looking and recovering; returns when the thread has ended. */
  void drain() {
    draining = true;
    stop();
    work.end();
  }
}
