package org.rdma4j.mlx5.core.internal;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.rdma4j.mlx5.core.CommandException;
import org.rdma4j.mlx5.core.CommandRecord;
import org.rdma4j.mlx5.core.CommandReply;
import org.rdma4j.mlx5.core.CommandRequest;
import org.rdma4j.mlx5.core.CommandStatistics;
import org.rdma4j.mlx5.core.CommandTracer;

/**
 * The commands of a card, whether it takes any or not (kernel: {@code cmd.c:cmd_exec}): counted, shown to who traces
 * them, and answered by the driver where the card is not there to do it.
 */
final class Commands {
  private final String name;
  private final Tracing tracing;
  private final BooleanSupplier broken;
  private final CommandMeter meter = new CommandMeter();
  private volatile CommandTracer ownTracer;
  private volatile CommandInterface way;

  /**
   * Makes them without a way to the card.
   *
   * @param name of the card
   * @param tracing who traces the commands of all cards
   * @param broken whether waiting for the card is in vain
   */
  Commands(String name, Tracing tracing, BooleanSupplier broken) {
    this.name = name;
    this.tracing = tracing;
    this.broken = broken;
  }

  /** They go this way from now on; null when there is none. */
  void goBy(CommandInterface fresh) {
    way = fresh;
  }

  /** Who waits for the card is told that it will not answer. */
  void flush() {
    CommandInterface now = way;
    if (now != null) {
      now.flush();
    }
  }

  void trace(CommandTracer newTracer) {
    ownTracer = newTracer;
  }

  List<CommandStatistics> statistics() {
    return meter.rows();
  }

  CommandReply execute(CommandRequest request) {
    CommandTracer own = ownTracer;
    CommandTracer tracer = own == null ? tracing.tracer() : own;
    if (tracer != null) {
      tracer.begins(name, request.opcode(), request.modifier());
    }
    long start = System.nanoTime();
    MemorySegment output = null;
    CommandException failure = null;
    boolean local = false;
    try {
      CommandInterface now = way;
      if (broken.getAsBoolean() || now == null) {
        local = true;
        output = answerLocally(request);
      } else {
        output = now.execute(request.opcode(), request.modifier(), request.input(), request.outputBytes());
      }
      return new CommandReply(request.opcode(), output);
    } catch (CommandException e) {
      failure = e;
      throw e;
    } finally {
      long nanos = System.nanoTime() - start;
      meter.count(request.opcode(), nanos, failure);
      if (tracer != null) {
        record(tracer, request, output, failure, local, nanos);
      }
    }
  }

  private void record(
      CommandTracer tracer,
      CommandRequest request,
      MemorySegment output,
      CommandException failure,
      boolean local,
      long nanos) {
    int status = local ? CommandException.DRIVER_STATUS : failure == null ? 0 : failure.status();
    boolean answered = local || failure == null || status != 0;
    tracer.executed(
        new CommandRecord(
            name,
            request.opcode(),
            request.modifier(),
            request.input(),
            output == null ? Arena.ofAuto().allocate(request.outputBytes()) : output,
            answered ? status : -1,
            failure == null ? 0 : failure.syndrome(),
            nanos));
  }

  private static MemorySegment answerLocally(CommandRequest request) {
    if (ReleaseCommands.contains(request.opcode())) {
      return Arena.ofAuto().allocate(request.outputBytes(), Long.BYTES);
    }
    throw CommandException.ofStatus(
        request.opcode(),
        request.modifier(),
        CommandException.DRIVER_STATUS,
        CommandException.DRIVER_SYNDROME);
  }
}
