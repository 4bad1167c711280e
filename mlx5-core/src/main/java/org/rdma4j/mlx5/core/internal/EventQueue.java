package org.rdma4j.mlx5.core.internal;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import org.rdma4j.mlx5.core.CommandChannel;
import org.rdma4j.mlx5.core.CommandRequest;
import org.rdma4j.mlx5.core.Structure;
import org.rdma4j.mlx5.core.UarPage;
import org.rdma4j.mlx5.ifc.Layouts;
import org.rdma4j.mlx5.ifc.Opcode;
import org.rdma4j.pci.DmaMapping;
import org.rdma4j.pci.PciDevice;

/**
 * An event queue (kernel: {@code eq.c}): the card writes entries, the driver takes them and tells how far it is.
 * Entries are taken by one thread at a time. Taking them neither blocks nor allocates.
 */
final class EventQueue {
  /** Who takes the entries. */
  interface Handler {
    /** An entry, valid during the call. */
    void handle(MemorySegment entries, long offset);
  }

  /** Entries beyond those asked for, as many as are taken at a time: so the card never runs into its own. */
  private static final int SPARE = 128;

  private static final int ENTRY = (int) Layouts.EQE.size();
  private static final int OWNER = 0x3f;
  private static final int MASK_WORDS = 4;
  private static final int UID_OF_DRIVER = 0xffff;
  private static final int INDEX = 0xff_ffff;
  private static final VarHandle BYTE = ValueLayout.JAVA_BYTE.varHandle();

  private final String name;
  private final Handler handler;
  private final UarPage uar;
  private final int logSize;
  private final DmaMapping buffer;
  private final MemorySegment entries;
  private int number = -1;
  private int vector;
  private int index; // guarded by this
  private boolean open; // guarded by this
  private volatile long taken; // written under this

  /** Allocates the memory for at least so many entries. */
  EventQueue(PciDevice pci, String name, int size, UarPage uar, Handler handler) {
    this.name = name;
    this.handler = handler;
    this.uar = uar;
    this.logSize = Integer.SIZE - Integer.numberOfLeadingZeros(size + SPARE - 1);
    this.buffer = pci.allocate((long) ENTRY << logSize);
    this.entries = buffer.segment();
    for (long i = 0; i < 1L << logSize; i++) {
      entries.set(ValueLayout.JAVA_BYTE, i * ENTRY + OWNER, (byte) 1);
    }
  }

  String name() {
    return name;
  }

  int number() {
    return number;
  }

  int vector() {
    return vector;
  }

  /** {@return entries taken so far} */
  long taken() {
    return taken;
  }

  /** Creates the queue on the card; from then on it may have entries, but does not interrupt before it is armed. */
  void create(CommandChannel commands, int irq, long[] events, boolean userContexts) {
    int pages = (int) ((entries.byteSize() + HostPagePool.PAGE - 1) / HostPagePool.PAGE);
    CommandRequest request = CommandRequest.of(Opcode.CREATE_EQ, (long) pages * Long.BYTES);
    boolean any = false;
    for (int i = 0; i < MASK_WORDS; i++) {
      any |= events[i] != 0;
      request.input().set(ValueLayout.JAVA_LONG_UNALIGNED, 0x58 + i * 8L, Long.reverseBytes(events[i]));
    }
    if (!any && userContexts) {
      request.uid(UID_OF_DRIVER);
    }
    Structure context = request.structure("eq_context_entry");
    context.set("log_eq_size", logSize).set("uar_page", uar.index()).set("intr", irq).set("log_page_size", 0);
    for (int i = 0; i < pages; i++) {
      request.list(i, buffer.address() + (long) i * HostPagePool.PAGE);
    }
    number = commands.execute(request).get("eq_number");
    vector = irq;
    synchronized (this) {
      open = true;
    }
  }

  synchronized void arm() {
    uar.updateEventQueue(number, index & INDEX, true);
  }

  /** Takes what is there, up to a limit, and arms the queue again; whether the limit was reached. */
  synchronized boolean take() {
    if (!open) {
      return false;
    }
    int count = 0;
    while (count < SPARE && isOurs()) {
      handler.handle(entries, offset());
      index++;
      count++;
    }
    taken = taken + count;
    uar.updateEventQueue(number, index & INDEX, true);
    return count == SPARE;
  }

  private long offset() {
    return (long) (index & (1 << logSize) - 1) * ENTRY;
  }

  private boolean isOurs() {
    int owner = (byte) BYTE.getAcquire(entries, offset() + OWNER) & 1;
    return owner == (index >> logSize & 1);
  }

  /** Returns when nobody takes entries that were there before. */
  synchronized void barrier() {
    assert number >= 0;
  }

  /** No entry is taken any more. */
  synchronized void stop() {
    open = false;
  }

  /** Destroys the queue on the card. */
  void destroy(CommandChannel commands) {
    commands.execute(CommandRequest.of(Opcode.DESTROY_EQ).set("eq_number", number));
  }

  /** Takes the memory away from the card. */
  void free() {
    buffer.close();
  }
}
