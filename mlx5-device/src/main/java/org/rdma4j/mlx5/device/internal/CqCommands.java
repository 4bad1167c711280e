package org.rdma4j.mlx5.device.internal;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.rdma4j.mlx5.device.internal.Firmware.State;
import org.rdma4j.mlx5.ifc.Command;
import org.rdma4j.mlx5.ifc.CommandStatus;
import org.rdma4j.mlx5.ifc.Field;
import org.rdma4j.mlx5.ifc.Layouts;
import org.rdma4j.mlx5.ifc.Opcode;
import org.rdma4j.pci.PciHost;

/** All completion queues, and the commands that make, change and end them. Commands on the engine thread. */
final class CqCommands {
  private static final Field CONTEXT = Command.in(Opcode.CREATE_CQ, "cq_context");
  private static final Field LIST = Command.in(Opcode.CREATE_CQ, "pas");
  private static final Field FROM_UMEM = Command.in(Opcode.CREATE_CQ, "cq_umem_valid");
  private static final Field CREATED = Command.out(Opcode.CREATE_CQ, "cqn");
  private static final Field DESTROYED = Command.in(Opcode.DESTROY_CQ, "cqn");
  private static final Field QUERIED = Command.in(Opcode.QUERY_CQ, "cqn");
  private static final Field FOUND = Command.out(Opcode.QUERY_CQ, "cq_context");
  private static final Field MODIFIED = Command.in(Opcode.MODIFY_CQ, "cqn");
  private static final Field SELECT = Command.in(Opcode.MODIFY_CQ, "modify_field_select_resize_field_select");
  private static final Field WANTED = Command.in(Opcode.MODIFY_CQ, "cq_context");
  private static final Field WANTED_LIST = Command.in(Opcode.MODIFY_CQ, "pas");
  private static final Field STATUS = Layouts.CQC.field("status");
  private static final Field ENTRY_SIZE = Layouts.CQC.field("cqe_sz");
  private static final Field COLLAPSED = Layouts.CQC.field("cc");
  private static final Field COMPRESSED = Layouts.CQC.field("cqe_comp_en");
  private static final Field IGNORE_OVERRUN = Layouts.CQC.field("oi");
  private static final Field ARM_STATE = Layouts.CQC.field("st");
  private static final Field OFFSET = Layouts.CQC.field("page_offset");
  private static final Field LOG_SIZE = Layouts.CQC.field("log_cq_size");
  private static final Field UAR = Layouts.CQC.field("uar_page");
  private static final Field EQN = Layouts.CQC.field("c_eqn_or_apu_element");
  private static final Field LOG_PAGE = Layouts.CQC.field("log_page_size");
  private static final Field CONSUMER = Layouts.CQC.field("consumer_counter");
  private static final Field PRODUCER = Layouts.CQC.field("producer_counter");
  private static final Field DOORBELL = Layouts.CQC.field("dbr_addr");
  private static final ValueLayout.OfInt DWORD = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final int BYTES = (int) Layouts.CQC.size();
  private static final int SMALL = 64;
  private static final int LARGE = 128;
  private static final int ARMED = 9;
  private static final int FIRED = 0xa;
  private static final int RESIZE = 1;
  private static final int SELECT_SIZE = 1;
  private static final int SELECT_OFFSET = 2;
  private static final int SELECT_PAGE = 4;

  private final EntryTable table;
  private final Events events;
  private final UarPages uars;
  private final PciHost host;
  private final Faults faults;
  private final Slots<CompletionQueue> queues = new Slots<>(1 << Limits.LOG_MAX_CQ);

  CqCommands(Firmware firmware, EntryTable table, Events events, UarPages uars, PciHost host, Faults faults) {
    this.table = table;
    this.events = events;
    this.uars = uars;
    this.host = host;
    this.faults = faults;
    firmware.add(Opcode.CREATE_CQ, State.INITIALIZED, this::create);
    firmware.add(Opcode.DESTROY_CQ, State.INITIALIZED, this::destroy);
    firmware.add(Opcode.QUERY_CQ, State.INITIALIZED, this::query);
    firmware.add(Opcode.MODIFY_CQ, State.INITIALIZED, this::modify);
  }

  /** The queue of a number, or null; any thread. */
  CompletionQueue get(int number) {
    return queues.get(number);
  }

  /** The queue of a number that a context names. */
  CompletionQueue existing(int number) throws CommandFailure {
    CompletionQueue queue = queues.get(number);
    if (queue == null) {
      throw new CommandFailure(CommandStatus.BAD_RESOURCE, Syndrome.BAD_CQ);
    }
    return queue;
  }

  /** Whether completion queues tell an event queue of their news. */
  boolean usesEq(int eqn) {
    boolean[] found = {false};
    queues.forEach(queue -> found[0] |= queue.eqn() == eqn);
    return found[0];
  }

  private void create(CommandCall call) throws CommandFailure {
    MemorySegment input = call.input();
    long at = CONTEXT.offset();
    int size = ENTRY_SIZE.get(input, at);
    int uar = UAR.get(input, at);
    int eqn = EQN.get(input, at);
    if (COLLAPSED.isSet(input, at) || COMPRESSED.isSet(input, at) || call.get(FROM_UMEM) != 0 || size > 1) {
      throw new CommandFailure(CommandStatus.BAD_PARAMETER, Syndrome.NOT_MODELLED);
    }
    if (LOG_SIZE.get(input, at) > Limits.LOG_MAX_CQ_SIZE) {
      throw new CommandFailure(CommandStatus.BAD_PARAMETER, Syndrome.BAD_SIZE);
    }
    if (!uars.contains(uar)) {
      throw new CommandFailure(CommandStatus.BAD_RESOURCE, Syndrome.BAD_UAR);
    }
    if (events.queue(eqn) == null) {
      throw new CommandFailure(CommandStatus.BAD_RESOURCE, Syndrome.BAD_EQ);
    }
    int entryBytes = size == 0 ? SMALL : LARGE;
    PageList buffer = buffer(call, LIST, input, at, entryBytes);
    int number = table.allocate();
    boolean made = false;
    try {
      table.store(number, input, at, BYTES);
      made = true;
    } finally {
      if (!made) {
        table.free(number);
      }
    }
    CqShape shape =
        new CqShape(
            LOG_SIZE.get(input, at),
            entryBytes,
            uar,
            eqn,
            DOORBELL.getLong(input, at),
            IGNORE_OVERRUN.isSet(input, at),
            buffer);
    queues.put(number, new CompletionQueue(number, shape, events, host, faults));
    call.put(CREATED, number);
  }

  private static PageList buffer(CommandCall call, Field list, MemorySegment input, long at, int entryBytes)
      throws CommandFailure {
    return PageList.of(
        call,
        list,
        (long) entryBytes << LOG_SIZE.get(input, at),
        LOG_PAGE.get(input, at),
        OFFSET.get(input, at));
  }

  private void destroy(CommandCall call) throws CommandFailure {
    int number = table.existing(call.get(DESTROYED));
    if (queues.get(number).users() > 0) {
      throw new CommandFailure(CommandStatus.RESOURCE_BUSY, Syndrome.IN_USE);
    }
    queues.put(number, null);
    table.free(number);
  }

  private void query(CommandCall call) throws CommandFailure {
    int number = table.existing(call.get(QUERIED));
    CompletionQueue queue = queues.get(number);
    MemorySegment output = call.output();
    long at = FOUND.offset();
    table.load(number, output, at, BYTES);
    STATUS.set(output, at, queue.status());
    ARM_STATE.set(output, at, queue.isArmed() ? ARMED : FIRED);
    CONSUMER.set(output, at, queue.consumer());
    PRODUCER.set(output, at, queue.producer());
  }

  private void modify(CommandCall call) throws CommandFailure {
    int number = table.existing(call.get(MODIFIED));
    int select = call.input().get(DWORD, SELECT.offset());
    if (call.modifier() == RESIZE) {
      resize(call, number, select);
    } else if (call.modifier() != 0) {
      throw new CommandFailure(CommandStatus.BAD_PARAMETER, Syndrome.UNKNOWN_MODIFIER);
    } else if (select != 0) {
      // Moderation is not advertised, and whether entries may be overwritten is fixed here.
      throw new CommandFailure(CommandStatus.BAD_PARAMETER, Syndrome.NOT_MODELLED);
    }
  }

  private void resize(CommandCall call, int number, int select) throws CommandFailure {
    MemorySegment input = call.input();
    long at = WANTED.offset();
    if ((select & SELECT_SIZE) == 0 || (select & ~(SELECT_SIZE | SELECT_OFFSET | SELECT_PAGE)) != 0) {
      throw new CommandFailure(CommandStatus.BAD_PARAMETER, Syndrome.UNKNOWN_MODIFIER);
    }
    if (LOG_SIZE.get(input, at) > Limits.LOG_MAX_CQ_SIZE) {
      throw new CommandFailure(CommandStatus.BAD_PARAMETER, Syndrome.BAD_SIZE);
    }
    CompletionQueue queue = queues.get(number);
    PageList buffer = buffer(call, WANTED_LIST, input, at, queue.entryBytes());
    MemorySegment context = Arena.ofAuto().allocate(BYTES, Long.BYTES);
    table.load(number, context, 0, BYTES);
    LOG_SIZE.set(context, 0, LOG_SIZE.get(input, at));
    LOG_PAGE.set(context, 0, LOG_PAGE.get(input, at));
    OFFSET.set(context, 0, OFFSET.get(input, at));
    if (!queue.resize(LOG_SIZE.get(input, at), buffer)) {
      throw new CommandFailure(CommandStatus.BAD_SIZE, Syndrome.TOO_MANY_ENTRIES);
    }
    table.store(number, context, 0, BYTES);
  }

  /** Ends all of them. */
  void clear() {
    queues.forEach(
        queue -> {
          queues.put(queue.number(), null);
          table.free(queue.number());
        });
  }
}
