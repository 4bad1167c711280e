package org.rdma4j.mlx5.core;

import java.time.Instant;

/**
 * What one health reporter knows ({@code devlink health show}).
 *
 * @param name {@code fw} for what the firmware only reports, {@code fw_fatal} for what needs a recovery
 * @param healthy whether there is no error now
 * @param errors how many there were
 * @param recoveries how many of them were recovered from
 * @param lastError when the last one was, or null
 * @param lastDump what was known of it, or null
 * @param gracePeriodMillis after a recovery another one starts only when this is over, in ms
 * @param autoRecover whether it recovers by itself
 */
public record HealthReporter(
    String name,
    boolean healthy,
    long errors,
    long recoveries,
    Instant lastError,
    String lastDump,
    long gracePeriodMillis,
    boolean autoRecover) {}
