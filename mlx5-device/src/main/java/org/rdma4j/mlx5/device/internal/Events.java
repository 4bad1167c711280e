package org.rdma4j.mlx5.device.internal;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.IntPredicate;
import org.rdma4j.mlx5.device.internal.Firmware.State;
import org.rdma4j.mlx5.ifc.Command;
import org.rdma4j.mlx5.ifc.CommandStatus;
import org.rdma4j.mlx5.ifc.EventType;
import org.rdma4j.mlx5.ifc.Field;
import org.rdma4j.mlx5.ifc.Layouts;
import org.rdma4j.mlx5.ifc.Opcode;
import org.rdma4j.pci.PciHost;

/** All event queues, and the commands that make and end them. Commands on the engine thread, events from any. */
final class Events {
  private static final Field CONTEXT = Command.in(Opcode.CREATE_EQ, "eq_context_entry");
  private static final Field MASK = Command.in(Opcode.CREATE_EQ, "event_bitmask");
  private static final Field LIST = Command.in(Opcode.CREATE_EQ, "pas");
  private static final Field CREATED = Command.out(Opcode.CREATE_EQ, "eq_number");
  private static final Field DESTROYED = Command.in(Opcode.DESTROY_EQ, "eq_number");
  private static final Field QUERIED = Command.in(Opcode.QUERY_EQ, "eq_number");
  private static final Field FOUND = Command.out(Opcode.QUERY_EQ, "eq_context_entry");
  private static final Field FOUND_MASK = Command.out(Opcode.QUERY_EQ, "event_bitmask");
  private static final Field STATUS = Layouts.EQC.field("status");
  private static final Field ARMED_STATE = Layouts.EQC.field("st");
  private static final Field IGNORE_OVERRUN = Layouts.EQC.field("oi");
  private static final Field LOG_SIZE = Layouts.EQC.field("log_eq_size");
  private static final Field UAR = Layouts.EQC.field("uar_page");
  private static final Field VECTOR = Layouts.EQC.field("intr");
  private static final Field LOG_PAGE = Layouts.EQC.field("log_page_size");
  private static final Field OFFSET = Layouts.EQC.field("page_offset");
  private static final Field CONSUMER = Layouts.EQC.field("consumer_counter");
  private static final Field PRODUCER = Layouts.EQC.field("producer_counter");
  private static final Field NUMBER = Layouts.EQE.field("qp_number");
  private static final ValueLayout.OfLong QWORD = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final int ENTRY = (int) Layouts.EQE.size();
  private static final int BYTES = (int) Layouts.EQC.size();
  private static final int ARMED = 9;
  private static final int FIRED = 0xa;

  private final EntryTable table;
  private final PciHost host;
  private final UarPages uars;
  private final Runnable overrun;
  private final AtomicReferenceArray<EventQueue> queues = new AtomicReferenceArray<>(1 << Limits.LOG_MAX_EQ);
  private IntPredicate inUse = number -> false;
  private final MemorySegment scratch = Arena.ofAuto().allocate(Layouts.EQE.size(), Long.BYTES); // engine thread

  /** Events that nobody has got go to {@code overrun}. */
  Events(Firmware firmware, EntryTable table, UarPages uars, PciHost host, Runnable overrun) {
    this.table = table;
    this.uars = uars;
    this.host = host;
    this.overrun = overrun;
    firmware.add(Opcode.CREATE_EQ, State.INITIALIZED, this::create);
    firmware.add(Opcode.DESTROY_EQ, State.INITIALIZED, this::destroy);
    firmware.add(Opcode.QUERY_EQ, State.INITIALIZED, this::query);
  }

  private void create(CommandCall call) throws CommandFailure {
    MemorySegment input = call.input();
    long context = CONTEXT.offset();
    int logSize = LOG_SIZE.get(input, context);
    int vector = VECTOR.get(input, context);
    int uar = UAR.get(input, context);
    if (logSize > Limits.LOG_MAX_EQ_SIZE) {
      throw new CommandFailure(CommandStatus.BAD_PARAMETER, Syndrome.BAD_SIZE);
    }
    if (vector >= Limits.VECTORS) {
      throw new CommandFailure(CommandStatus.BAD_PARAMETER, Syndrome.BAD_VECTOR);
    }
    if (!uars.contains(uar)) {
      throw new CommandFailure(CommandStatus.BAD_RESOURCE, Syndrome.BAD_UAR);
    }
    PageList buffer =
        PageList.of(
            call, LIST, (long) ENTRY << logSize, LOG_PAGE.get(input, context), OFFSET.get(input, context));
    long mask = input.get(QWORD, MASK.offset());
    int number = table.allocate();
    boolean stored = false;
    try {
      table.store(number, input, context, BYTES);
      stored = true;
    } finally {
      if (!stored) {
        table.free(number);
      }
    }
    boolean ignoresOverrun = IGNORE_OVERRUN.isSet(input, context);
    queues.set(
        number, new EventQueue(new EqShape(number, logSize, vector, uar, mask, ignoresOverrun, buffer), host));
    call.put(CREATED, number);
  }

  /** Says who needs an event queue. */
  void users(IntPredicate uses) {
    inUse = uses;
  }

  private void destroy(CommandCall call) throws CommandFailure {
    int number = table.existing(call.get(DESTROYED));
    if (inUse.test(number)) {
      throw new CommandFailure(CommandStatus.RESOURCE_BUSY, Syndrome.IN_USE);
    }
    end(number);
  }

  private void end(int number) {
    queues.set(number, null);
    table.free(number);
  }

  private void query(CommandCall call) throws CommandFailure {
    int number = table.existing(call.get(QUERIED));
    MemorySegment output = call.output();
    table.load(number, output, FOUND.offset(), BYTES);
    EventQueue queue = queues.get(number);
    STATUS.set(output, FOUND.offset(), queue.status());
    ARMED_STATE.set(output, FOUND.offset(), queue.isArmed() ? ARMED : FIRED);
    CONSUMER.set(output, FOUND.offset(), queue.consumer());
    PRODUCER.set(output, FOUND.offset(), queue.producer());
    output.set(QWORD, FOUND_MASK.offset(), queue.mask());
  }

  /** Ends all of them. */
  void clear() {
    for (int i = 0; i < queues.length(); i++) {
      if (table.contains(i)) {
        end(i);
      }
    }
  }

  EventQueue queue(int number) {
    return number >= 0 && number < queues.length() ? queues.get(number) : null;
  }

  /** A queue of completions has news. */
  void complete(int eqn, MemorySegment event) {
    EventQueue queue = queue(eqn);
    if (queue != null && !queue.post(EventType.COMPLETION, 0, event)) {
      overrun.run();
    }
  }

  /**
   * Brings an event to every queue that wants its type.
   *
   * @param type the type
   * @param subType the sub-type, or 0
   * @param event an entry with the data
   * @return whether a queue took it
   */
  boolean post(EventType type, int subType, MemorySegment event) {
    boolean taken = false;
    boolean lost = false;
    for (int i = 0; i < queues.length(); i++) {
      EventQueue queue = queues.get(i);
      if (queue != null && queue.wants(type)) {
        boolean posted = queue.post(type, subType, event);
        taken |= posted;
        lost |= !posted;
      }
    }
    if (lost) {
      overrun.run();
    }
    return taken;
  }

  /** An event of a queue pair or a shared receive queue. Engine thread. */
  void post(EventType type, int number) {
    scratch.fill((byte) 0);
    NUMBER.set(scratch, 0, number);
    post(type, 0, scratch);
  }

  /** Whether somebody wants events of a type. */
  boolean isWanted(EventType type) {
    for (int i = 0; i < queues.length(); i++) {
      EventQueue queue = queues.get(i);
      if (queue != null && queue.wants(type)) {
        return true;
      }
    }
    return false;
  }
}
