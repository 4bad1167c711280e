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

/** Receive memory pools and shared receive queues of XRC domains, which have numbers in common. Engine thread. */
final class SrqCommands {
  private static final Field POOL = Command.in(Opcode.CREATE_RMP, "ctx");
  private static final Field CREATED_POOL = Command.out(Opcode.CREATE_RMP, "rmpn");
  private static final Field MODIFIED_POOL = Command.in(Opcode.MODIFY_RMP, "rmpn");
  private static final Field MODIFIED_STATE = Command.in(Opcode.MODIFY_RMP, "rmp_state");
  private static final Field BITMASK = Command.in(Opcode.MODIFY_RMP, "bitmask");
  private static final Field WANTED_POOL = Command.in(Opcode.MODIFY_RMP, "ctx");
  private static final Field DESTROYED_POOL = Command.in(Opcode.DESTROY_RMP, "rmpn");
  private static final Field QUERIED_POOL = Command.in(Opcode.QUERY_RMP, "rmpn");
  private static final Field FOUND_POOL = Command.out(Opcode.QUERY_RMP, "rmp_context");
  private static final Field QUEUE = Command.in(Opcode.CREATE_XRC_SRQ, "xrc_srq_context_entry");
  private static final Field QUEUE_LIST = Command.in(Opcode.CREATE_XRC_SRQ, "pas");
  private static final Field FROM_UMEM = Command.in(Opcode.CREATE_XRC_SRQ, "xrc_srq_umem_valid");
  private static final Field CREATED_QUEUE = Command.out(Opcode.CREATE_XRC_SRQ, "xrc_srqn");
  private static final Field DESTROYED_QUEUE = Command.in(Opcode.DESTROY_XRC_SRQ, "xrc_srqn");
  private static final Field QUERIED_QUEUE = Command.in(Opcode.QUERY_XRC_SRQ, "xrc_srqn");
  private static final Field FOUND_QUEUE = Command.out(Opcode.QUERY_XRC_SRQ, "xrc_srq_context_entry");
  private static final Field ARMED_QUEUE = Command.in(Opcode.ARM_XRC_SRQ, "xrc_srqn");
  private static final Field ARM_LIMIT = Command.in(Opcode.ARM_XRC_SRQ, "lwm");

  private static final Field POOL_STATE = Layouts.RMPC.field("state");
  private static final Field WQ_TYPE = Layouts.WQ.field("wq_type");
  private static final Field WQ_SIGNATURE = Layouts.WQ.field("wq_signature");
  private static final Field WQ_OFFSET = Layouts.WQ.field("page_offset");
  private static final Field WQ_LIMIT = Layouts.WQ.field("lwm");
  private static final Field WQ_PD = Layouts.WQ.field("pd");
  private static final Field WQ_RECORD = Layouts.WQ.field("dbr_addr");
  private static final Field WQ_HARDWARE = Layouts.WQ.field("hw_counter");
  private static final Field WQ_SOFTWARE = Layouts.WQ.field("sw_counter");
  private static final Field WQ_LOG_STRIDE = Layouts.WQ.field("log_wq_stride");
  private static final Field WQ_LOG_PAGE = Layouts.WQ.field("log_wq_pg_sz");
  private static final Field WQ_LOG_SIZE = Layouts.WQ.field("log_wq_sz");
  private static final Field STATE = Layouts.XRC_SRQC.field("state");
  private static final Field LOG_SIZE = Layouts.XRC_SRQC.field("log_xrc_srq_size");
  private static final Field SIGNATURE = Layouts.XRC_SRQC.field("wq_signature");
  private static final Field LOG_STRIDE = Layouts.XRC_SRQC.field("log_rq_stride");
  private static final Field XRCD = Layouts.XRC_SRQC.field("xrcd");
  private static final Field OFFSET = Layouts.XRC_SRQC.field("page_offset");
  private static final Field CQN = Layouts.XRC_SRQC.field("cqn");
  private static final Field LOG_PAGE = Layouts.XRC_SRQC.field("log_page_size");
  private static final Field PD = Layouts.XRC_SRQC.field("pd");
  private static final Field LIMIT = Layouts.XRC_SRQC.field("lwm");
  private static final Field COUNT = Layouts.XRC_SRQC.field("wqe_cnt");
  private static final Field RECORD_HIGH = Layouts.XRC_SRQC.field("db_record_addr_h");
  private static final Field RECORD_LOW = Layouts.XRC_SRQC.field("db_record_addr_l");
  private static final ValueLayout.OfLong QWORD = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

  /** Where the work queue is in the context of a pool. */
  private static final int WQ = 0x30;

  private static final int POOL_BYTES = (int) Layouts.RMPC.size();
  private static final int QUEUE_BYTES = (int) Layouts.XRC_SRQC.size();
  private static final int READY = 1;
  private static final int POOL_ERROR = 3;
  private static final int QUEUE_ERROR = 1;
  private static final int MODIFY_LIMIT = 1;
  private static final int ARM_XRC = 1;
  private static final int LOG_SEGMENT = 4;
  private static final int LOG_SMALLEST_STRIDE = 5;
  private static final int COUNT_MASK = 0xffff;

  private final EntryTable pools;
  private final EntryTable pds;
  private final EntryTable xrcds;
  private final CqCommands cqs;
  private final Events events;
  private final PciHost host;
  private final Slots<SharedReceives> queues = new Slots<>(1 << Limits.LOG_MAX_SRQ);

  private SharedReceives.Lost lost;

  SrqCommands(
      Firmware firmware,
      EntryTable pools,
      EntryTable pds,
      EntryTable xrcds,
      CqCommands cqs,
      Events events,
      PciHost host) {
    this.pools = pools;
    this.pds = pds;
    this.xrcds = xrcds;
    this.cqs = cqs;
    this.events = events;
    this.host = host;
    firmware.add(Opcode.CREATE_RMP, State.INITIALIZED, this::createPool);
    firmware.add(Opcode.MODIFY_RMP, State.INITIALIZED, this::modifyPool);
    firmware.add(Opcode.DESTROY_RMP, State.INITIALIZED, call -> destroy(call.get(DESTROYED_POOL), false));
    firmware.add(Opcode.QUERY_RMP, State.INITIALIZED, this::queryPool);
    firmware.add(Opcode.CREATE_XRC_SRQ, State.INITIALIZED, this::createQueue);
    firmware.add(Opcode.ARM_XRC_SRQ, State.INITIALIZED, this::armQueue);
    firmware.add(Opcode.DESTROY_XRC_SRQ, State.INITIALIZED, call -> destroy(call.get(DESTROYED_QUEUE), true));
    firmware.add(Opcode.QUERY_XRC_SRQ, State.INITIALIZED, this::queryQueue);
  }

  /** Who hears of lost completions; before any queue is made. */
  void whenLost(SharedReceives.Lost listener) {
    lost = listener;
  }

  /** A queue of that number, or null. */
  SharedReceives get(int number) {
    return queues.get(number);
  }

  private SharedReceives existing(int number, boolean xrc) throws CommandFailure {
    SharedReceives queue = queues.get(number);
    if (queue == null || queue.shape().xrcDomain() >= 0 != xrc) {
      throw new CommandFailure(CommandStatus.BAD_RESOURCE, Syndrome.NO_SUCH_OBJECT);
    }
    return queue;
  }

  private void createPool(CommandCall call) throws CommandFailure {
    MemorySegment input = call.input();
    long at = POOL.offset();
    long wq = at + WQ;
    if (WQ_TYPE.get(input, wq) != 0 || WQ_SIGNATURE.isSet(input, wq)) {
      throw new CommandFailure(CommandStatus.BAD_PARAMETER, Syndrome.NOT_MODELLED);
    }
    if (POOL_STATE.get(input, at) != READY) {
      throw new CommandFailure(CommandStatus.BAD_RESOURCE_STATE, Syndrome.BAD_STATE);
    }
    int logSize = WQ_LOG_SIZE.get(input, wq);
    int logStride = WQ_LOG_STRIDE.get(input, wq);
    checkSize(logSize, logStride);
    checkPd(WQ_PD.get(input, wq));
    Field list = Command.in(Opcode.CREATE_CQ, "pas"); // At the same place: 0x20 + 0x30 + 0xc0.
    PageList buffer =
        PageList.of(
            call, list, 1L << (logSize + logStride), WQ_LOG_PAGE.get(input, wq), WQ_OFFSET.get(input, wq));
    SrqShape shape =
        new SrqShape(
            1 << logSize,
            1 << logStride,
            WQ_PD.get(input, wq),
            -1,
            null,
            WQ_RECORD.getLong(input, wq),
            buffer);
    call.put(CREATED_POOL, add(input, at, POOL_BYTES, shape, WQ_LIMIT.get(input, wq)));
  }

  private void createQueue(CommandCall call) throws CommandFailure {
    MemorySegment input = call.input();
    long at = QUEUE.offset();
    if (SIGNATURE.isSet(input, at) || call.get(FROM_UMEM) != 0) {
      throw new CommandFailure(CommandStatus.BAD_PARAMETER, Syndrome.NOT_MODELLED);
    }
    int logSize = LOG_SIZE.get(input, at);
    int logStride = LOG_STRIDE.get(input, at) + LOG_SEGMENT;
    checkSize(logSize, logStride);
    checkPd(PD.get(input, at));
    if (!xrcds.contains(XRCD.get(input, at))) {
      throw new CommandFailure(CommandStatus.BAD_RESOURCE, Syndrome.BAD_XRCD);
    }
    PageList buffer =
        PageList.of(call, QUEUE_LIST, 1L << (logSize + logStride), LOG_PAGE.get(input, at), OFFSET.get(input, at));
    SrqShape shape =
        new SrqShape(
            1 << logSize,
            1 << logStride,
            PD.get(input, at),
            XRCD.get(input, at),
            cqs.existing(CQN.get(input, at)),
            (long) RECORD_HIGH.get(input, at) << Integer.SIZE
                | Integer.toUnsignedLong(RECORD_LOW.get(input, at) << 2),
            buffer);
    call.put(CREATED_QUEUE, add(input, at, QUEUE_BYTES, shape, LIMIT.get(input, at)));
  }

  private static void checkSize(int logSize, int logStride) throws CommandFailure {
    if (logSize > Limits.LOG_MAX_SRQ_SIZE
        || logStride < LOG_SMALLEST_STRIDE
        || 1 << logStride > ReceiveReader.MAX_BYTES) {
      throw new CommandFailure(CommandStatus.BAD_PARAMETER, Syndrome.BAD_SIZE);
    }
  }

  private void checkPd(int pd) throws CommandFailure {
    if (!pds.contains(pd)) {
      throw new CommandFailure(CommandStatus.BAD_RESOURCE, Syndrome.BAD_PD);
    }
  }

  private int add(MemorySegment input, long at, int bytes, SrqShape shape, int limit) throws CommandFailure {
    int number = pools.allocate();
    boolean stored = false;
    try {
      pools.store(number, input, at, bytes);
      stored = true;
    } finally {
      if (!stored) {
        pools.free(number);
      }
    }
    queues.put(number, new SharedReceives(number, shape, limit, events, host, lost));
    return number;
  }

  private void destroy(int number, boolean xrc) throws CommandFailure {
    SharedReceives queue = existing(number, xrc);
    if (queue.users() > 0) {
      throw new CommandFailure(CommandStatus.RESOURCE_BUSY, Syndrome.IN_USE);
    }
    end(queue);
  }

  private void end(SharedReceives queue) {
    queue.end();
    queues.put(queue.number(), null);
    pools.free(queue.number());
  }

  private void modifyPool(CommandCall call) throws CommandFailure {
    SharedReceives queue = existing(call.get(MODIFIED_POOL), false);
    MemorySegment input = call.input();
    if (call.get(MODIFIED_STATE) != READY || POOL_STATE.get(input, WANTED_POOL.offset()) != READY) {
      throw new CommandFailure(CommandStatus.BAD_RESOURCE_STATE, Syndrome.BAD_STATE);
    }
    long mask = input.get(QWORD, BITMASK.offset());
    if ((mask & ~MODIFY_LIMIT) != 0) {
      throw new CommandFailure(CommandStatus.BAD_PARAMETER, Syndrome.NOT_MODELLED);
    }
    if (mask != 0) {
      setLimit(queue, WQ_LIMIT.get(input, WANTED_POOL.offset() + WQ));
    }
  }

  private void armQueue(CommandCall call) throws CommandFailure {
    if (call.modifier() != ARM_XRC) {
      throw new CommandFailure(CommandStatus.BAD_PARAMETER, Syndrome.UNKNOWN_MODIFIER);
    }
    setLimit(existing(call.get(ARMED_QUEUE), true), call.get(ARM_LIMIT));
  }

  private static void setLimit(SharedReceives queue, int limit) throws CommandFailure {
    if (limit > queue.shape().count()) {
      throw new CommandFailure(CommandStatus.BAD_PARAMETER, Syndrome.BAD_SIZE);
    }
    queue.limit(limit);
  }

  private void queryPool(CommandCall call) throws CommandFailure {
    SharedReceives queue = existing(call.get(QUERIED_POOL), false);
    MemorySegment output = call.output();
    long at = FOUND_POOL.offset();
    pools.load(queue.number(), output, at, POOL_BYTES);
    POOL_STATE.set(output, at, queue.isBroken() ? POOL_ERROR : READY);
    WQ_LIMIT.set(output, at + WQ, queue.limit());
    WQ_HARDWARE.set(output, at + WQ, queue.taken());
    WQ_SOFTWARE.set(output, at + WQ, queue.posted());
  }

  private void queryQueue(CommandCall call) throws CommandFailure {
    SharedReceives queue = existing(call.get(QUERIED_QUEUE), true);
    MemorySegment output = call.output();
    long at = FOUND_QUEUE.offset();
    MemorySegment context = Arena.ofAuto().allocate(QUEUE_BYTES, Long.BYTES);
    pools.load(queue.number(), context, 0, QUEUE_BYTES);
    STATE.set(context, 0, queue.isBroken() ? QUEUE_ERROR : 0);
    LIMIT.set(context, 0, queue.limit());
    COUNT.set(context, 0, queue.posted() - queue.taken() & COUNT_MASK);
    MemorySegment.copy(context, 0, output, at, QUEUE_BYTES);
  }

  /** Whether a queue is of a protection domain. */
  boolean usesPd(int pd) {
    boolean[] found = {false};
    queues.forEach(queue -> found[0] |= queue.shape().pd() == pd);
    return found[0];
  }

  /** Whether a queue is of an XRC domain. */
  boolean usesXrcd(int xrcd) {
    boolean[] found = {false};
    queues.forEach(queue -> found[0] |= queue.shape().xrcDomain() == xrcd);
    return found[0];
  }

  /** Ends all of them. */
  void clear() {
    queues.forEach(this::end);
  }
}
