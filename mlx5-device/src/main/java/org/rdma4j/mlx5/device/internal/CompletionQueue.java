package org.rdma4j.mlx5.device.internal;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import org.rdma4j.mlx5.ifc.EventType;
import org.rdma4j.mlx5.ifc.Field;
import org.rdma4j.mlx5.ifc.Layouts;
import org.rdma4j.pci.DmaFault;
import org.rdma4j.pci.PciHost;

/**
 * A completion queue in host memory. Entries are written on the engine thread; the driver arms it from any thread. It
 * is armed up to a consumer index: whatever was written from there on fires, so no entry is missed. Neither allocates.
 */
final class CompletionQueue {
  static final int SUCCESS = 0;
  static final int OVERFLOW = 9;
  static final int WRITE_FAILURE = 0xa;

  private static final Field OPCODE = Layouts.CQE.field("opcode");
  private static final Field OWNER = Layouts.CQE.field("owner");
  private static final Field BYTE_COUNT = Layouts.CQE.field("byte_count");
  private static final Field EVENT_CQN = Layouts.EQE.field("completion_cqn");
  private static final Field ERROR_CQN = Layouts.EQE.field("cq_error_cqn");
  private static final Field ERROR_SYNDROME = Layouts.EQE.field("cq_error_syndrome");
  private static final ValueLayout.OfInt DWORD = ValueLayout.JAVA_INT.withOrder(ByteOrder.BIG_ENDIAN);
  private static final int CQE = (int) Layouts.CQE.size();
  private static final int INDEX_MASK = 0xff_ffff;
  private static final int RESIZE = 5;
  private static final int OVERRUN = 1;
  private static final int NOT_ARMED = 0;
  private static final int ARMED = 1;
  private static final int ARMED_SOLICITED = 2;
  private static final VarHandle STATE;

  static {
    try {
      STATE = MethodHandles.lookup().findVarHandle(CompletionQueue.class, "armState", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final int number;
  private final int uar;
  private final int eqn;
  private final long doorbellRecord;
  private final boolean ignoresOverrun;
  private final Events events;
  private final PciHost host;
  private final Faults faults;
  private final MemorySegment record = Arena.ofAuto().allocate(Long.BYTES, Long.BYTES);
  private final MemorySegment event = Arena.ofAuto().allocate(Layouts.EQE.size(), Long.BYTES);
  private final MemorySegment error = Arena.ofAuto().allocate(Layouts.EQE.size(), Long.BYTES);
  private final MemorySegment entry;
  private final int entryBytes;
  private PageList buffer;
  private int logSize;
  private int consumer; // as last read from the doorbell record
  private int status;
  private boolean told;
  private int users;
  private volatile int producer; // written on the engine thread alone
  private volatile int lastSolicited = -1; // index after the last entry that raises a solicited event
  private volatile int armIndex;

  @SuppressWarnings("unused") // Through STATE.
  private volatile int armState;

  CompletionQueue(int number, CqShape shape, Events events, PciHost host, Faults faults) {
    this.number = number;
    this.uar = shape.uar();
    this.eqn = shape.eqn();
    this.doorbellRecord = shape.doorbellRecord();
    this.ignoresOverrun = shape.ignoresOverrun();
    this.entryBytes = shape.entryBytes();
    this.logSize = shape.logSize();
    this.buffer = shape.buffer();
    this.events = events;
    this.host = host;
    this.faults = faults;
    this.entry = Arena.ofAuto().allocate(entryBytes, CQE);
    EVENT_CQN.set(event, 0, number);
    ERROR_CQN.set(error, 0, number);
    ERROR_SYNDROME.set(error, 0, OVERRUN);
  }

  int number() {
    return number;
  }

  int uar() {
    return uar;
  }

  int eqn() {
    return eqn;
  }

  int status() {
    return status;
  }

  int producer() {
    return producer & INDEX_MASK;
  }

  int consumer() {
    return consumer;
  }

  int entryBytes() {
    return entryBytes;
  }

  /** Queues of work that complete here. */
  int users() {
    return users;
  }

  void use() {
    users++;
  }

  void unuse() {
    users--;
  }

  boolean isArmed() {
    return armState != NOT_ARMED;
  }

  /** A cleared entry to be filled and given to {@link #add}; its place is {@link #at}. */
  MemorySegment begin() {
    entry.fill((byte) 0);
    return entry;
  }

  /** Where the 64 bytes of {@link Layouts#CQE} begin in an entry. */
  int at() {
    return entryBytes - CQE;
  }

  /**
   * Writes the entry that was begun.
   *
   * @param opcode what the entry says it is
   * @param solicited whether it raises an event that was asked for only for such entries; errors always do
   * @return false when the queue is in error: the entry is lost
   */
  boolean add(int opcode, boolean solicited) {
    if (status != SUCCESS || (!ignoresOverrun && isFull())) {
      fail(OVERFLOW);
      return false;
    }
    OPCODE.set(entry, at(), opcode);
    OWNER.set(entry, at(), producer >>> logSize & 1);
    if (faults.corruptsCompletion()) {
      BYTE_COUNT.set(entry, at(), BYTE_COUNT.get(entry, at()) ^ 1);
    }
    try {
      long place = (long) (producer & (1 << logSize) - 1) * entryBytes;
      buffer.write(host, place, entry, 0, entryBytes - 1);
      VarHandle.releaseFence();
      buffer.write(host, place + entryBytes - 1, entry, entryBytes - 1, 1);
    } catch (DmaFault e) {
      fail(WRITE_FAILURE);
      return false;
    }
    int index = producer + 1;
    if (solicited) {
      lastSolicited = index;
    }
    publish(index);
    return true;
  }

  private void publish(int index) {
    producer = index;
    fire();
  }

  private boolean isFull() {
    if ((producer - consumer & INDEX_MASK) < 1 << logSize) {
      return false;
    }
    refresh();
    return (producer - consumer & INDEX_MASK) >= 1 << logSize;
  }

  /** A record that cannot be read leaves the index as it was. */
  private void refresh() {
    try {
      host.read(doorbellRecord, record, 0, Integer.BYTES);
      consumer = record.get(DWORD, 0) & INDEX_MASK;
    } catch (DmaFault e) {
      return; // The queue looks full then, and fails.
    }
  }

  private void fail(int why) {
    if (status == SUCCESS) {
      status = why;
    }
  }

  /** Tells the driver, once; after those whose entry was lost, so that it finds them in error. */
  void tellFailure() {
    if (status != SUCCESS && !told) {
      told = true;
      events.post(EventType.CQ_ERROR, 0, error);
    }
  }

  /**
   * The driver wants to be told of entries.
   *
   * @param index up to where it has read
   * @param solicitedOnly whether of solicited ones only
   */
  void arm(int index, boolean solicitedOnly) {
    armIndex = index & INDEX_MASK;
    STATE.setVolatile(this, solicitedOnly ? ARMED_SOLICITED : ARMED);
    fire();
  }

  /** Either the engine sees that the queue is armed, or who arms it sees the entry. */
  private void fire() {
    int state = (int) STATE.getVolatile(this);
    if (state == NOT_ARMED) {
      return;
    }
    int last = state == ARMED ? producer : lastSolicited;
    // Behind the index by less than half of all indices.
    boolean news = (last - armIndex & INDEX_MASK) - 1 < INDEX_MASK >> 1 && (last - armIndex & INDEX_MASK) != 0;
    if (state == ARMED_SOLICITED && lastSolicited == -1) {
      news = false;
    }
    if (news && STATE.compareAndSet(this, state, NOT_ARMED)) {
      events.complete(eqn, event);
    }
  }

  /** Goes on in another buffer; the last entry of the old one says so. */
  boolean resize(int newLogSize, PageList newBuffer) {
    refresh();
    // One more for the entry that ends the old buffer; its place in the new one stays empty.
    int unread = (producer - consumer & INDEX_MASK) + 1;
    if (status != SUCCESS || unread > 1 << newLogSize || unread > 1 << logSize) {
      return false;
    }
    begin();
    if (!addSilently()) {
      tellFailure();
      return false;
    }
    buffer = newBuffer;
    logSize = newLogSize;
    return true;
  }

  private boolean addSilently() {
    OPCODE.set(entry, at(), RESIZE);
    OWNER.set(entry, at(), producer >>> logSize & 1);
    try {
      long place = (long) (producer & (1 << logSize) - 1) * entryBytes;
      buffer.write(host, place, entry, 0, entryBytes);
    } catch (DmaFault e) {
      fail(WRITE_FAILURE);
      return false;
    }
    int next = producer + 1;
    producer = next; // The reader steps over it.
    return true;
  }
}
