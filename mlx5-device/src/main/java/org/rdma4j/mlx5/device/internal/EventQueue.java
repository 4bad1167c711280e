package org.rdma4j.mlx5.device.internal;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import org.rdma4j.mlx5.ifc.EventType;
import org.rdma4j.mlx5.ifc.Field;
import org.rdma4j.mlx5.ifc.Layouts;
import org.rdma4j.pci.DmaFault;
import org.rdma4j.pci.PciHost;

/**
 * An event queue in host memory. Events come from the engine and from who arms a completion queue, one at a time; the
 * driver's doorbells come from any thread. Posting an event does not allocate.
 */
final class EventQueue {
  static final int WRITE_FAILURE = 0xa;

  private static final Field TYPE = Layouts.EQE.field("event_type");
  private static final Field SUB_TYPE = Layouts.EQE.field("event_sub_type");
  private static final Field OWNER = Layouts.EQE.field("owner");
  private static final int DATA = (int) Layouts.EQE.field("event_data").offset();
  private static final int DATA_BYTES = (int) Layouts.EQE.field("event_data").length();
  private static final int ENTRY = (int) Layouts.EQE.size();
  private static final int INDEX_MASK = 0xff_ffff;

  private final int number;
  private final int uar;
  private final int logSize;
  private final int vector;
  private final long mask;
  private final boolean ignoresOverrun;
  private final PageList buffer;
  private final PciHost host;
  private final MemorySegment entry = Arena.ofAuto().allocate(ENTRY, Long.BYTES);
  private int producer; // this and the following: guarded by this
  private int consumer;
  private boolean armed;
  private int status;

  EventQueue(EqShape shape, PciHost host) {
    this.number = shape.number();
    this.uar = shape.uar();
    this.logSize = shape.logSize();
    this.vector = shape.vector();
    this.mask = shape.mask();
    this.ignoresOverrun = shape.ignoresOverrun();
    this.buffer = shape.buffer();
    this.host = host;
  }

  int number() {
    return number;
  }

  int uar() {
    return uar;
  }

  long mask() {
    return mask;
  }

  boolean wants(EventType type) {
    return (mask & 1L << type.number()) != 0;
  }

  synchronized int producer() {
    return producer;
  }

  synchronized int consumer() {
    return consumer;
  }

  synchronized boolean isArmed() {
    return armed;
  }

  synchronized int status() {
    return status;
  }

  /**
   * Adds an event.
   *
   * @param type its type
   * @param subType its sub-type, or 0
   * @param event an entry whose data is taken over
   * @return false when the queue is full or cannot be written: the event is lost
   */
  synchronized boolean post(EventType type, int subType, MemorySegment event) {
    if (status != 0 || ((producer - consumer & INDEX_MASK) >= 1 << logSize && !ignoresOverrun)) {
      return false;
    }
    entry.fill((byte) 0);
    TYPE.set(entry, 0, type.number());
    SUB_TYPE.set(entry, 0, subType);
    MemorySegment.copy(event, DATA, entry, DATA, DATA_BYTES);
    OWNER.set(entry, 0, producer >>> logSize & 1);
    long at = (long) (producer & (1 << logSize) - 1) * ENTRY;
    try {
      buffer.write(host, at, entry, 0, ENTRY - 1);
      VarHandle.releaseFence();
      buffer.write(host, at + ENTRY - 1, entry, ENTRY - 1, 1);
    } catch (DmaFault e) {
      status = WRITE_FAILURE;
      return false;
    }
    producer = producer + 1 & INDEX_MASK;
    interrupt();
    return true;
  }

  /** The driver has read as far as this, and perhaps wants to be told of more. */
  synchronized void doorbell(int index, boolean arm) {
    consumer = index & INDEX_MASK;
    armed |= arm;
    interrupt();
  }

  private void interrupt() {
    if (armed && producer != consumer) {
      armed = false;
      host.raise(vector);
    }
  }
}
