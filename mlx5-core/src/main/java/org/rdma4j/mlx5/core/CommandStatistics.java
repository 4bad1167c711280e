package org.rdma4j.mlx5.core;

import org.rdma4j.mlx5.ifc.Opcode;

/**
 * What became of one kind of command ({@code debugfs mlx5/DEVICE/commands}).
 *
 * @param opcode the command
 * @param count how many were given
 * @param failed how many of them failed, for whatever reason
 * @param averageNanos mean duration, in ns
 * @param lastFailedStatus status of the last one that was answered with a failure, else 0
 * @param lastFailedSyndrome its syndrome
 * @param lastFailedErrno errno of the last one that failed, or null
 */
public record CommandStatistics(
    Opcode opcode,
    long count,
    long failed,
    long averageNanos,
    int lastFailedStatus,
    int lastFailedSyndrome,
    Mlx5Errno lastFailedErrno) {}
