package org.rdma4j.mlx5.core.internal;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.rdma4j.mlx5.core.CommandException;
import org.rdma4j.mlx5.core.Mlx5Errno;
import org.rdma4j.mlx5.core.Mlx5Exception;
import org.rdma4j.mlx5.ifc.Command;
import org.rdma4j.mlx5.ifc.Field;
import org.rdma4j.mlx5.ifc.Layouts;
import org.rdma4j.mlx5.ifc.Opcode;
import org.rdma4j.pci.DmaMapping;
import org.rdma4j.pci.PciDevice;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The command queue (kernel: {@code cmd.c}): entries in one page of host memory, of which the last is kept for
 * MANAGE_PAGES, so that the card can be given pages that it needs for a command of another entry. One of these lives
 * from one bring-up to the end of it.
 */
final class CommandInterface implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(CommandInterface.class);
  private static final VarHandle OWNER = ValueLayout.JAVA_BYTE.varHandle();
  private static final int REVISION = 5;
  private static final int PAGE = 4096;
  private static final int LOG_PAGE = 12;
  private static final int MOST_ENTRIES = 32;
  private static final int TYPE_PCI = 7;
  private static final int OWNER_BYTE = 0x3f;
  private static final int DELIVERY_SHIFT = 1;
  private static final int TOKENS = 0x100;
  private static final int POLL_EXTRA_MILLIS = 1_000;
  private static final int SPINS = 2_000;
  private static final long PARK_NANOS = 20_000;

  private static final Field TYPE = Layouts.CMD_QUEUE_ENTRY.field("type");
  private static final Field INPUT_LENGTH = Layouts.CMD_QUEUE_ENTRY.field("input_length");
  private static final Field INPUT_MAILBOX = Layouts.CMD_QUEUE_ENTRY.field("input_mailbox");
  private static final Field INPUT_INLINE = Layouts.CMD_QUEUE_ENTRY.field("input_inline");
  private static final Field OUTPUT_INLINE = Layouts.CMD_QUEUE_ENTRY.field("output_inline");
  private static final Field OUTPUT_MAILBOX = Layouts.CMD_QUEUE_ENTRY.field("output_mailbox");
  private static final Field OUTPUT_LENGTH = Layouts.CMD_QUEUE_ENTRY.field("output_length");
  private static final Field TOKEN = Layouts.CMD_QUEUE_ENTRY.field("token");
  private static final Field SIGNATURE = Layouts.CMD_QUEUE_ENTRY.field("signature");
  private static final int ENTRY = (int) Layouts.CMD_QUEUE_ENTRY.size();

  private final InitSegment registers;
  private final Timeouts timeouts;
  private final BooleanSupplier broken;
  private final MailboxPool mailboxes;
  private final DmaMapping queue;
  private final CommandSlot[] slots;
  private final int logStride;
  private final Semaphore general;
  private final Semaphore pages = new Semaphore(1);
  private int token; // guarded by this
  private volatile boolean up;
  private volatile boolean events;
  private volatile boolean checksums;
  private volatile Opcode allowed;
  private volatile Runnable eventRecovery = () -> {};

  /**
   * Hands the card its command queue (section 5.1, step 2).
   *
   * @param broken whether the device is in error state, so that waiting is in vain
   * @throws Mlx5Exception EINVAL when the interface has a revision or size that is not known
   */
  CommandInterface(PciDevice pci, InitSegment registers, Timeouts timeouts, BooleanSupplier broken) {
    this.registers = registers;
    this.timeouts = timeouts;
    this.broken = broken;
    int revision = registers.get("cmd_interface_rev");
    if (revision != REVISION) {
      throw new Mlx5Exception(
          Mlx5Errno.EINVAL, "command interface revision " + revision + ": only " + REVISION + " is known");
    }
    int logEntries = registers.get("log_cmdq_size");
    logStride = registers.get("log_cmdq_stride");
    boolean fits = logEntries + logStride <= LOG_PAGE && 1 << logStride >= ENTRY;
    if (!fits || 1 << logEntries > MOST_ENTRIES || logEntries == 0) {
      throw new Mlx5Exception(
          Mlx5Errno.EINVAL,
          "command queue of 2^%d entries of 2^%d bytes: allowed are 2 to %d entries of at least %d bytes in one page"
              .formatted(logEntries, logStride, MOST_ENTRIES, ENTRY));
    }
    slots = new CommandSlot[1 << logEntries];
    for (int i = 0; i < slots.length; i++) {
      slots[i] = new CommandSlot(i);
    }
    general = new Semaphore(slots.length - 1);
    mailboxes = new MailboxPool(pci);
    queue = pci.allocate(PAGE);
    registers.commandQueue(queue.address());
  }

  void up(boolean isUp) {
    up = isUp;
  }

  /** Whether mailbox blocks are signed, and answers checked. */
  void checksums(boolean on) {
    checksums = on;
  }

  /** Lets only one kind of command pass, or all with null ({@code mlx5_cmd_allowed_opcode}). */
  void allow(Opcode only) {
    allowed = only;
  }

  /** What to do when the event of a command does not come: to look at the command event queue. */
  void onMissingEvent(Runnable recovery) {
    eventRecovery = recovery;
  }

  /** Switches between waiting for events and looking at memory; returns when nobody waits for a command. */
  void useEvents(boolean wanted) {
    boolean changed = false;
    while (!changed) {
      int lost = (int) Arrays.stream(slots, 0, slots.length - 1).filter(CommandSlot::isAbandoned).count();
      int all = slots.length - 1 - lost;
      boolean pagesLost = slots[slots.length - 1].isAbandoned();
      if (general.tryAcquire(all)) {
        if (pagesLost || pages.tryAcquire()) {
          events = wanted;
          changed = true;
          if (!pagesLost) {
            pages.release();
          }
        }
        general.release(all);
      }
      if (!changed) {
        LockSupport.parkNanos(this, PARK_NANOS);
      }
    }
  }

  boolean usesEvents() {
    return events;
  }

  /**
   * Gives a command to the card and waits.
   *
   * @return the output
   * @throws CommandException when it was not carried out
   */
  MemorySegment execute(Opcode opcode, int modifier, MemorySegment input, long outputBytes) {
    if (!up || broken.getAsBoolean()) {
      throw CommandException.unanswered(Mlx5Errno.ENXIO, opcode, "the command interface is down");
    }
    Semaphore permits = opcode == Opcode.MANAGE_PAGES ? pages : general;
    permits.acquireUninterruptibly();
    CommandSlot slot = null;
    boolean leaked = false;
    try {
      Opcode only = allowed;
      if (only != null && only != opcode) {
        throw CommandException.unanswered(Mlx5Errno.ENXIO, opcode, "only " + only.text() + " is allowed now");
      }
      slot = claim(opcode == Opcode.MANAGE_PAGES, input, outputBytes);
      MemorySegment output = run(slot, opcode, outputBytes);
      int status = Command.STATUS.get(output, 0);
      if (status != 0) {
        throw CommandException.ofStatus(opcode, modifier, status, Command.SYNDROME.get(output, 0));
      }
      return output;
    } catch (CommandException e) {
      leaked = e.errno() == Mlx5Errno.ETIMEDOUT;
      throw e;
    } finally {
      if (!leaked) {
        if (slot != null) {
          slot.free();
        }
        permits.release();
      }
    }
  }

  /** Takes a slot, writes the entry and rings. */
  private CommandSlot claim(boolean forPages, MemorySegment input, long outputBytes) {
    CommandSlot slot;
    int mark;
    MailboxChain in;
    MailboxChain out;
    synchronized (this) {
      slot = forPages ? slots[slots.length - 1] : freeSlot();
      token = token % (TOKENS - 1) + 1;
      mark = token;
      in = new MailboxChain(mailboxes, input.byteSize(), mark);
      out = new MailboxChain(mailboxes, outputBytes, mark);
      slot.begin(in, out);
    }
    in.write(input);
    if (checksums) {
      in.sign();
      out.sign();
    }
    MemorySegment entry = entry(slot);
    entry.fill((byte) 0);
    TYPE.set(entry, 0, TYPE_PCI);
    INPUT_LENGTH.set(entry, 0, (int) input.byteSize());
    INPUT_MAILBOX.setLong(entry, 0, in.address());
    MemorySegment.copy(
        input, 0, entry, INPUT_INLINE.offset(), Math.min(input.byteSize(), MailboxChain.INLINE));
    OUTPUT_MAILBOX.setLong(entry, 0, out.address());
    OUTPUT_LENGTH.set(entry, 0, (int) outputBytes);
    TOKEN.set(entry, 0, mark);
    SIGNATURE.set(entry, 0, ~(MailboxChain.xor(entry, 0, ENTRY) ^ 1) & 0xff);
    OWNER.setRelease(entry, (long) OWNER_BYTE, (byte) 1);
    registers.ring(slot.index());
    return slot;
  }

  private CommandSlot freeSlot() {
    for (int i = 0; i < slots.length - 1; i++) {
      if (slots[i].state() == CommandSlot.State.FREE) {
        return slots[i];
      }
    }
    throw new IllegalStateException("a permit but no free slot");
  }

  private MemorySegment entry(CommandSlot slot) {
    return queue.segment().asSlice((long) slot.index() << logStride, ENTRY);
  }

  private boolean isOurs(CommandSlot slot) {
    return ((byte) OWNER.getAcquire(entry(slot), (long) OWNER_BYTE) & 1) == 0;
  }

  private MemorySegment run(CommandSlot slot, Opcode opcode, long outputBytes) {
    boolean answered = events ? awaitEvent(slot) : poll(slot);
    if (!answered) {
      if (slot.state() == CommandSlot.State.ABORTED || !up || broken.getAsBoolean()) {
        slot.abort();
        throw CommandException.unanswered(Mlx5Errno.ENXIO, opcode, "the command interface went down");
      }
      if (slot.abandon()) {
        LOG.warn("{}: no answer; slot {} stays taken until there is one", opcode.text(), slot.index());
        throw CommandException.unanswered(Mlx5Errno.ETIMEDOUT, opcode, "no answer in time");
      }
    }
    return collect(slot, opcode, outputBytes);
  }

  private MemorySegment collect(CommandSlot slot, Opcode opcode, long outputBytes) {
    MemorySegment entry = entry(slot);
    int delivery = (entry.get(ValueLayout.JAVA_BYTE, OWNER_BYTE) & 0xff) >> DELIVERY_SHIFT;
    if (delivery != 0) {
      throw CommandException.ofDelivery(opcode, delivery);
    }
    MemorySegment output = Arena.ofAuto().allocate(Math.max(outputBytes, MailboxChain.INLINE), Long.BYTES);
    MemorySegment.copy(entry, OUTPUT_INLINE.offset(), output, 0, MailboxChain.INLINE);
    MemorySegment whole = output.asSlice(0, outputBytes);
    if (!slot.read(whole, checksums)) {
      throw CommandException.unanswered(Mlx5Errno.EIO, opcode, "the signature of the answer is wrong");
    }
    return whole;
  }

  private boolean poll(CommandSlot slot) {
    long end =
        System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeouts.millis(Timeout.CMD) + POLL_EXTRA_MILLIS);
    int spins = 0;
    while (!isOurs(slot)) {
      if (!up || broken.getAsBoolean() || slot.state() == CommandSlot.State.ABORTED || System.nanoTime() - end > 0) {
        return false;
      }
      if (spins++ < SPINS) {
        Thread.onSpinWait();
      } else {
        LockSupport.parkNanos(this, PARK_NANOS);
      }
    }
    return true;
  }

  private boolean awaitEvent(CommandSlot slot) {
    boolean interrupted = Thread.interrupted();
    try {
      CommandSlot.State state = await(slot, timeouts.millis(Timeout.CMD));
      if (state == CommandSlot.State.BUSY) {
        eventRecovery.run();
        state = slot.state();
        if (state == CommandSlot.State.DONE) {
          LOG.warn("slot {}: the event of a command was lost, and found", slot.index());
        } else {
          state = await(slot, timeouts.millis(Timeout.CMD_EVENT_RECOVERY));
        }
      }
      return state == CommandSlot.State.DONE;
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private static CommandSlot.State await(CommandSlot slot, long millis) {
    boolean interrupted = false;
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    while (true) {
      try {
        CommandSlot.State state = slot.await(Math.max(0, TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime())));
        if (interrupted) {
          Thread.currentThread().interrupt();
        }
        return state;
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
  }

  /** The card says that entries are done, one bit each. Interrupt thread, or the one that found the event. */
  void completed(int vector) {
    for (int left = vector; left != 0; left &= left - 1) {
      int index = Integer.numberOfTrailingZeros(left);
      if (index < slots.length && slots[index].complete()) {
        LOG.warn("slot {}: the answer came after all", index);
        slots[index].free();
        (index == slots.length - 1 ? pages : general).release();
      }
    }
  }

  /** Ends all waiting: the card will not answer any more ({@code mlx5_cmd_flush}). */
  void flush() {
    for (CommandSlot slot : slots) {
      slot.abort();
    }
  }

  /** Takes the queue away from the card. No command may be under way. */
  @Override
  public void close() {
    up = false;
    flush();
    queue.close();
    mailboxes.close();
  }
}
