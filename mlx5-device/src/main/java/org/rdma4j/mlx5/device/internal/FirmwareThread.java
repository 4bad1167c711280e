package org.rdma4j.mlx5.device.internal;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.rdma4j.mlx5.ifc.DeliveryStatus;
import org.rdma4j.mlx5.ifc.EventType;
import org.rdma4j.mlx5.ifc.Field;
import org.rdma4j.mlx5.ifc.Layouts;
import org.rdma4j.pci.DmaFault;
import org.rdma4j.pci.PciHost;
import org.rdma4j.roce.engine.Engine;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The processor of the card: runs one command after the other, each between two duty cycles of the engine, and lets
 * the health counter move. A command that lacks pages waits until the driver has given some, or cannot.
 */
final class FirmwareThread implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(FirmwareThread.class);
  private static final long BEAT_NANOS = 20_000_000;
  private static final Field VECTOR = Layouts.EQE.field("command_vector");

  private final Engine engine;
  private final Faults faults;
  private final CommandQueue queue;
  private final AtomicInteger rung = new AtomicInteger();
  private final MemorySegment event = Arena.ofAuto().allocate(Layouts.EQE.size(), Long.BYTES);
  private final Thread thread;
  private volatile Boot boot;
  private volatile boolean stopping;
  private int waiting; // entries whose commands lack pages; engine thread

  FirmwareThread(String name, Engine engine, Faults faults, PciHost host) {
    this.engine = engine;
    this.faults = faults;
    this.queue = new CommandQueue(host);
    this.thread = Thread.ofPlatform().name("mlx5-fw-" + name).daemon().unstarted(this::run);
  }

  /** The card starts anew. Engine thread. */
  void boot(Boot next) {
    rung.set(0);
    waiting = 0;
    boot = next;
    if (thread.getState() == Thread.State.NEW) {
      thread.start();
    }
    LockSupport.unpark(thread);
  }

  /** The command doorbell: a bit for each entry. Any thread. */
  void ring(int entries) {
    rung.accumulateAndGet(entries, (before, more) -> before | more);
    LockSupport.unpark(thread);
  }

  private void run() {
    while (!stopping) {
      boot.registers().up();
      int entries = faults.isAsserted() ? 0 : rung.getAndSet(0);
      if (entries == 0) {
        LockSupport.parkNanos(this, BEAT_NANOS);
      }
      if (!faults.healthStands()) {
        boot.registers().beat();
      }
      for (; entries != 0; entries &= entries - 1) {
        int slot = Integer.numberOfTrailingZeros(entries);
        engine.run(() -> execute(slot));
      }
    }
  }

  private void execute(int slot) {
    Boot now = boot;
    long queueAddress = now.registers().commandQueue();
    // A doorbell from before a reset finds no queue.
    if (slot >= 1 << now.registers().get("log_cmdq_size") || faults.isAsserted() || queueAddress == 0) {
      LOG.debug("doorbell for entry {} is not answered", slot);
      return;
    }
    long address = queueAddress + ((long) slot << now.registers().get("log_cmdq_stride"));
    boolean signatures = now.capabilities().signs();
    try {
      if (queue.fetch(address) && !faults.dropsCommand()) {
        run(now, slot, address, signatures);
      }
    } catch (DmaFault e) {
      LOG.debug("a command cannot be fetched or answered: {}", e.getMessage());
    } catch (RuntimeException | Error e) {
      LOG.error("the firmware failed in a command", e);
    }
  }

  private void run(Boot now, int slot, long address, boolean signatures) throws DmaFault {
    // The queue that a command makes does not hear of that command.
    boolean tells = now.objects().events().isWanted(EventType.COMMAND_COMPLETION);
    try {
      CommandCall call = queue.open(signatures);
      CommandFailure failure = now.firmware().execute(call, faults);
      if (failure != null) {
        LOG.debug("{}: {}", call.opcode(), failure.getMessage());
        if (failure.syndrome() == Syndrome.NO_FREE_PAGE && now.pages().request()) {
          waiting |= 1 << slot;
          return;
        }
      }
      queue.answer(address, call.output(), signatures);
    } catch (CommandQueue.NotDelivered e) {
      queue.give(address, e.status(), signatures);
    } catch (RuntimeException e) {
      LOG.error("the firmware failed in a command", e);
      queue.give(address, DeliveryStatus.FIRMWARE, signatures);
    }
    if (tells) {
      complete(now, slot);
    }
    if (now.pages().hasNews()) {
      retry();
    }
    now.pages().keepReserve(now.firmware().state());
  }

  /** The driver has given pages, or cannot: what waits for them runs once more. */
  private void retry() {
    int entries = waiting;
    waiting = 0;
    for (; entries != 0; entries &= entries - 1) {
      execute(Integer.numberOfTrailingZeros(entries));
    }
  }

  private void complete(Boot now, int slot) {
    VECTOR.set(event, 0, 1 << slot);
    now.objects().events().post(EventType.COMMAND_COMPLETION, 0, event);
  }

  /** Stops after the command that runs. */
  @Override
  public void close() {
    stopping = true;
    LockSupport.unpark(thread);
    boolean interrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
