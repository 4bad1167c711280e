package org.rdma4j.mlx5.core.internal;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.rdma4j.mlx5.core.CommandException;
import org.rdma4j.mlx5.core.CommandStatistics;
import org.rdma4j.mlx5.core.Mlx5Errno;
import org.rdma4j.mlx5.ifc.Opcode;

/** Counts commands by opcode. Safe for any thread. */
final class CommandMeter {
  private static final class Row {
    private long count;
    private long failed;
    private long nanos;
    private int status;
    private int syndrome;
    private Mlx5Errno errno;
  }

  private final Map<Opcode, Row> rows = new EnumMap<>(Opcode.class); // guarded by this

  synchronized void count(Opcode opcode, long nanos, CommandException failure) {
    Row row = rows.computeIfAbsent(opcode, any -> new Row());
    row.count++;
    row.nanos += nanos;
    if (failure != null) {
      row.failed++;
      row.errno = failure.errno();
      if (failure.status() != 0) {
        row.status = failure.status();
        row.syndrome = failure.syndrome();
      }
    }
  }

  synchronized List<CommandStatistics> rows() {
    List<CommandStatistics> all = new ArrayList<>();
    rows.forEach(
        (opcode, row) ->
            all.add(
                new CommandStatistics(
                    opcode, row.count, row.failed, row.nanos / row.count, row.status, row.syndrome, row.errno)));
    return all;
  }
}
