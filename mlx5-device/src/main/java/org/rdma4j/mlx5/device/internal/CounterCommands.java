package org.rdma4j.mlx5.device.internal;

import java.lang.foreign.MemorySegment;
import org.rdma4j.mlx5.device.internal.Firmware.State;
import org.rdma4j.mlx5.ifc.Command;
import org.rdma4j.mlx5.ifc.CommandStatus;
import org.rdma4j.mlx5.ifc.Field;
import org.rdma4j.mlx5.ifc.Opcode;

/**
 * Q counters. A set counts what its queue pairs complete with errors; what cannot be told for single queue pairs is 0,
 * and its capability is not advertised. Engine thread.
 */
final class CounterCommands {
  private static final Field CREATED = Command.out(Opcode.ALLOC_Q_COUNTER, "counter_set_id");
  private static final Field DESTROYED = Command.in(Opcode.DEALLOC_Q_COUNTER, "counter_set_id");
  private static final Field QUERIED = Command.in(Opcode.QUERY_Q_COUNTER, "counter_set_id");
  private static final Field CLEAR = Command.in(Opcode.QUERY_Q_COUNTER, "clear");

  private final EntryTable table;
  private final CounterSet[] sets = new CounterSet[Limits.COUNTER_SETS];

  CounterCommands(Firmware firmware, EntryTable table) {
    this.table = table;
    firmware.add(Opcode.ALLOC_Q_COUNTER, State.INITIALIZED, this::create);
    firmware.add(Opcode.DEALLOC_Q_COUNTER, State.INITIALIZED, this::destroy);
    firmware.add(Opcode.QUERY_Q_COUNTER, State.INITIALIZED, this::query);
  }

  /** The set of a number that a context names; 0 is that of nobody. */
  CounterSet existing(int number) throws CommandFailure {
    if (number == 0) {
      return CounterSet.NONE;
    }
    table.existing(number);
    return sets[number];
  }

  private void create(CommandCall call) throws CommandFailure {
    int number = table.allocate();
    sets[number] = new CounterSet(number);
    call.put(CREATED, number);
  }

  private void destroy(CommandCall call) throws CommandFailure {
    int number = table.existing(call.get(DESTROYED));
    if (sets[number].users > 0) {
      throw new CommandFailure(CommandStatus.RESOURCE_BUSY, Syndrome.IN_USE);
    }
    sets[number] = null;
    table.free(number);
  }

  private void query(CommandCall call) throws CommandFailure {
    int number = table.existing(call.get(QUERIED));
    CounterSet set = sets[number];
    put(call, "resp_local_length_error", set.responderLocalLength);
    put(call, "req_local_length_error", set.requesterLocalLength);
    put(call, "resp_local_qp_error", set.responderLocalOperation);
    put(call, "local_operation_error", set.requesterLocalOperation);
    put(call, "resp_local_protection", set.responderProtection);
    put(call, "req_local_protection", set.requesterProtection);
    put(call, "resp_cqe_error", set.responderCqeErrors);
    put(call, "req_cqe_error", set.requesterCqeErrors);
    put(call, "req_mw_binding", set.requesterBind);
    put(call, "req_bad_response", set.requesterBadResponse);
    put(call, "req_remote_invalid_request", set.requesterRemoteInvalid);
    put(call, "resp_remote_invalid_request", set.responderRemoteInvalid);
    put(call, "req_remote_access_errors", set.requesterRemoteAccess);
    put(call, "resp_remote_access_errors", set.responderRemoteAccess);
    put(call, "req_remote_operation_errors", set.requesterRemoteOperation);
    put(call, "req_transport_retries_exceeded", set.requesterRetries);
    put(call, "rnr_nak_retry_err", set.requesterRnrRetries);
    put(call, "cq_overflow", set.cqOverflow);
    put(call, "resp_cqe_flush_error", set.responderFlushed);
    put(call, "req_cqe_flush_error", set.requesterFlushed);
    if (call.get(CLEAR) != 0) {
      set.clear();
    }
  }

  private static void put(CommandCall call, String field, long value) {
    MemorySegment output = call.output();
    Command.out(Opcode.QUERY_Q_COUNTER, field).set(output, 0, (int) value);
  }

  /** Ends all of them. */
  void clear() {
    for (int i = 0; i < sets.length; i++) {
      if (sets[i] != null) {
        sets[i] = null;
        table.free(i);
      }
    }
  }
}
