package org.rdma4j.mlx5.core.internal;

import java.time.Instant;
import org.rdma4j.mlx5.core.HealthReporter;

/** What a health reporter has seen. Safe for any thread. */
final class Reporter {
  private final String name;
  private final boolean autoRecover;
  private boolean healthy = true; // this and the following guarded by this
  private long errors;
  private long recoveries;
  private Instant lastError;
  private String lastDump;
  private long graceMillis;

  Reporter(String name, boolean autoRecover, long graceMillis) {
    this.name = name;
    this.autoRecover = autoRecover;
    this.graceMillis = graceMillis;
  }

  synchronized void error(String dump) {
    healthy = false;
    errors++;
    lastError = Instant.now();
    lastDump = dump;
  }

  synchronized void recovered() {
    healthy = true;
    recoveries++;
  }

  synchronized void grace(long millis) {
    graceMillis = millis;
  }

  synchronized long grace() {
    return graceMillis;
  }

  synchronized boolean isHealthy() {
    return healthy;
  }

  synchronized HealthReporter snapshot() {
    return new HealthReporter(name, healthy, errors, recoveries, lastError, lastDump, graceMillis, autoRecover);
  }
}
