package org.rdma4j.mlx5.core.internal;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.rdma4j.mlx5.core.AuxiliaryDevice;
import org.rdma4j.mlx5.core.BlueFlameRegister;
import org.rdma4j.mlx5.core.Capabilities;
import org.rdma4j.mlx5.core.CommandException;
import org.rdma4j.mlx5.core.CommandReply;
import org.rdma4j.mlx5.core.CommandRequest;
import org.rdma4j.mlx5.core.CommandStatistics;
import org.rdma4j.mlx5.core.CommandTracer;
import org.rdma4j.mlx5.core.CompletionHandler;
import org.rdma4j.mlx5.core.CoreCompletionQueue;
import org.rdma4j.mlx5.core.DeviceParameter;
import org.rdma4j.mlx5.core.DeviceState;
import org.rdma4j.mlx5.core.DmaBuffer;
import org.rdma4j.mlx5.core.DmaRange;
import org.rdma4j.mlx5.core.DoorbellRecord;
import org.rdma4j.mlx5.core.HealthReporter;
import org.rdma4j.mlx5.core.Mlx5Device;
import org.rdma4j.mlx5.core.Mlx5Errno;
import org.rdma4j.mlx5.core.Mlx5EventListener;
import org.rdma4j.mlx5.core.Mlx5Exception;
import org.rdma4j.mlx5.core.UarPage;
import org.rdma4j.mlx5.ifc.Opcode;
import org.rdma4j.pci.Bar;
import org.rdma4j.pci.PciChannelState;
import org.rdma4j.pci.PciDevice;
import org.rdma4j.pci.PciException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A card from probe to remove (kernel: {@code main.c}): coming up, going down, and recovering, each under one lock and
 * in the kernel's order, and the services for its drivers meanwhile.
 */
final class CoreDevice implements Mlx5Device {
  private static final Logger LOG = LoggerFactory.getLogger(CoreDevice.class);
  private static final int DMA_BITS = 64;
  private static final int ETHERNET = 1;
  private static final int PREPARE_FAST = 2;
  private static final int FORCE = 1;
  private static final int NOT_WITHOUT_ODP = 3;
  private static final int BOARD_AT = 0x100;
  private static final int VENDOR_AT = 0x28;
  private static final int BOARD_BYTES = 16;
  private static final int VITAL_TRIES = 100;
  private static final long VITAL_NANOS = TimeUnit.MILLISECONDS.toNanos(50);
  private static final long STEP_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

  private final PciDevice pci;
  private final AuxiliaryPublisher publisher;
  private final int auxiliaryIndex;
  private final Commands commands;
  private final Map<DeviceParameter, Integer> parameters = new EnumMap<>(DeviceParameter.class); // guarded by itself
  private final List<Mlx5EventListener> listeners = new CopyOnWriteArrayList<>();
  private final CapabilityStore capabilities = new CapabilityStore();
  private final Timeouts timeouts;
  private final AtomicInteger keyVariant = new AtomicInteger();
  private final ReentrantLock lifecycle = new ReentrantLock();
  private final Object stateLock = new Object();
  private final Ladder pciLadder;
  private final Ladder ladder;
  private final Health health;
  private final Worker pageWork;
  private final HostMemory memory;
  private boolean gone; // guarded by lifecycle: not this driver's any more
  private InitSegment registers;
  private Bar bar;
  private PageSupply pages;
  private volatile DeviceState state = DeviceState.UNINITIALIZED;
  private volatile EventQueues events;
  private volatile UarTable uars;
  private volatile Uar uar;
  private volatile String firmwareVersion = "";
  private volatile String boardId = "";
  private volatile int vendorId;

  CoreDevice(
      PciDevice pci, AuxiliaryPublisher publisher, int auxiliaryIndex, CoreSettings settings, Tracing tracing) {
    this.pci = pci;
    this.publisher = publisher;
    this.auxiliaryIndex = auxiliaryIndex;
    this.commands = new Commands(pci.address().toString(), tracing, this::isBroken);
    this.timeouts = new Timeouts(settings.timeouts());
    this.parameters.putAll(settings.parameters());
    this.pciLadder = new Ladder(pci.address().toString());
    this.ladder = new Ladder(pci.address().toString());
    this.health = new Health(this, pci, timeouts, settings.graceMillis());
    this.memory = new HostMemory(pci);
    this.pageWork = new Worker("mlx5-pages/" + pci.address());
  }

  PciDevice pci() {
    return pci;
  }

  // Coming and going

  /** Takes the card over ({@code probe_one}); nothing is left when this throws. */
  void probe() {
    lifecycle.lock();
    boolean done = false;
    try {
      initializePci();
      up(Timeout.FW_PRE_INIT);
      Runnable hidden = publisher.publish(this);
      pciLadder.done("service", hidden);
      done = true;
    } finally {
      if (!done) {
        gone = true;
        pciLadder.descend();
      }
      lifecycle.unlock();
      if (!done) {
        endThreads();
      }
    }
  }

  private void endThreads() {
    health.drain();
    pageWork.end();
  }

  private void initializePci() {
    pci.enable();
    pciLadder.done("PCI device", pci::disable);
    pci.setMaster(true);
    pci.setDmaMask(DMA_BITS);
    bar = pci.bar(0);
    registers = new InitSegment(bar);
    pages = new PageSupply(pci, this, timeouts, this::isBroken);
  }

  /** Gives the card back ({@code remove_one}), also when it is gone already. */
  void remove() {
    health.drain();
    lifecycle.lock();
    try {
      if (pci.channelState() == PciChannelState.PERMANENT_FAILURE) {
        enterErrorState();
      }
      gone = true;
      down();
      pciLadder.descend();
    } finally {
      lifecycle.unlock();
      endThreads();
    }
  }

  /** The host goes down: the card is to be quiet soon ({@code mlx5_try_fast_unload}). */
  void shutdown() {
    health.drain();
    lifecycle.lock();
    try {
      if (state == DeviceState.UP && !isBroken() && tearDownFast()) {
        enterErrorState();
      }
    } finally {
      lifecycle.unlock();
    }
    remove();
  }

  private boolean tearDownFast() {
    boolean fast = capabilities.has("fast_teardown");
    if (!fast && !capabilities.has("force_teardown")) {
      return false;
    }
    try {
      CommandReply reply =
          execute(CommandRequest.of(Opcode.TEARDOWN_HCA).set("profile", fast ? PREPARE_FAST : FORCE));
      if (reply.get("state") != 0) {
        return false;
      }
      if (fast) {
        registers.nicState(InitSegment.NIC_DISABLED);
        return awaitNicState(InitSegment.NIC_DISABLED, Timeout.TEARDOWN);
      }
      return true;
    } catch (CommandException e) {
      LOG.warn("{}: no fast end: {}", name(), e.getMessage());
      return false;
    }
  }

  private boolean awaitNicState(int wanted, Timeout which) {
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeouts.millis(which));
    while (registers.nicState() != wanted) {
      if (System.nanoTime() - end > 0 || pci.channelState() == PciChannelState.PERMANENT_FAILURE) {
        return false;
      }
      LockSupport.parkNanos(this, STEP_NANOS);
    }
    return true;
  }

  /** From the first register to the auxiliary devices (reference chapter 5); nothing is left when this throws. */
  private void up(Timeout firmwareReady) {
    boolean done = false;
    try {
      checkOurs();
      state = DeviceState.UNINITIALIZED;
      FunctionSetup setup =
          new FunctionSetup(this, pci, registers, timeouts, capabilities, pages, health::isDraining);
      setup.awaitFirmware(firmwareReady);
      firmwareVersion = registers.firmwareVersion();
      CommandInterface fresh = new CommandInterface(pci, registers, timeouts, this::isBroken);
      commands.goBy(fresh);
      ladder.done(
          "command queue",
          () -> {
            commands.goBy(null);
            fresh.close();
          });
      boolean told = setup.readTimeouts();
      setup.awaitFirmware(Timeout.FW_INIT);
      fresh.up(true);
      ladder.done("command interface", () -> fresh.up(false));
      health.start(registers);
      ladder.done("health", health::stop);
      setup.enable(ladder, told);
      setup.open(ladder, this, fresh);
      load(fresh);
      state = DeviceState.UP;
      publishAuxiliary();
      done = true;
    } finally {
      if (!done) {
        down();
      }
    }
  }

  /** A recovery that has waited for the lock may find the card given back. */
  private void checkOurs() {
    if (gone) {
      throw new Mlx5Exception(Mlx5Errno.ENODEV, name() + " is not this driver's any more");
    }
  }

  private void load(CommandInterface fresh) {
    readAdapter();
    UarTable table = new UarTable(bar, this, capabilities.general("log_bf_reg_size"));
    uar = table.allocate();
    Uar shared = uar;
    ladder.done("doorbell page", () -> table.free(shared));
    uars = table;
    ladder.done("requests for pages", this::flushPageWork);
    int queues = capabilities.general("max_num_eqs");
    if (queues == 0) {
      queues = 1 << capabilities.general("log_max_eq");
    }
    int processors = Runtime.getRuntime().availableProcessors();
    InterruptVectors vectors =
        new InterruptVectors(
            pci, Math.min(Math.max(1, capabilities.general("num_ports")) * processors + 1, queues));
    ladder.done("interrupt vectors", vectors::free);
    EventQueues fromNow = new EventQueues(this, fresh, vectors, shared, pages, pageWork, listeners);
    fromNow.create(ladder, Math.max(queues, NOT_WITHOUT_ODP + 1));
    events = fromNow;
    switchLocalLoopbackOff();
  }

  private void readAdapter() {
    MemorySegment answer = execute(CommandRequest.of(Opcode.QUERY_ADAPTER)).output();
    byte[] board = answer.asSlice(BOARD_AT, BOARD_BYTES).toArray(ValueLayout.JAVA_BYTE);
    boardId = new String(board, StandardCharsets.US_ASCII).trim();
    vendorId = Integer.reverseBytes(answer.get(ValueLayout.JAVA_INT_UNALIGNED, VENDOR_AT)) & 0xff_ffff;
  }

  /** As the kernel has it by default ({@code mlx5_nic_vport_update_local_lb}). */
  private void switchLocalLoopbackOff() {
    boolean multicast = capabilities.has("disable_local_lb_mc");
    boolean unicast = capabilities.has("disable_local_lb_uc");
    if (capabilities.general("port_type") != ETHERNET || !(multicast || unicast)) {
      return;
    }
    CommandRequest request = CommandRequest.of(Opcode.MODIFY_NIC_VPORT_CONTEXT);
    request
        .structure("field_select")
        .set("disable_mc_local_lb", multicast ? 1 : 0)
        .set("disable_uc_local_lb", unicast ? 1 : 0);
    request.structure("nic_vport_context").set("disable_mc_local_lb", 1).set("disable_uc_local_lb", 1);
    execute(request);
  }

  private void publishAuxiliary() {
    if (parameter(DeviceParameter.ENABLE_RDMA) != 0) {
      String auxiliary = "mlx5_core." + AuxiliaryDevice.RDMA + "." + auxiliaryIndex;
      ladder.done("auxiliary device", publisher.publish(new RdmaAuxiliary(auxiliary, this)));
    }
  }

  /** Everything of {@link #up} in reverse (reference chapter 6). */
  private void down() {
    ladder.descend();
    events = null;
    uars = null;
    if (state == DeviceState.UP) {
      state = DeviceState.UNINITIALIZED;
    }
    if (pages != null && pages.given() > 0) {
      // The card has not given them back: it must not reach them any more.
      pci.setMaster(false);
      pages.clear();
    }
  }

  private void flushPageWork() {
    try {
      pageWork.submit(() -> {}).get();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void reload() {
    lifecycle.lock();
    try {
      checkOurs();
      down();
      pci.setMaster(true);
      up(Timeout.FW_PRE_INIT);
    } finally {
      lifecycle.unlock();
    }
  }

  // Errors

  /** Whether waiting for the card is in vain. */
  private boolean isBroken() {
    return state == DeviceState.INTERNAL_ERROR || pci.channelState() != PciChannelState.NORMAL;
  }

  /** Nothing succeeds from now on; who waits for the card is told ({@code mlx5_enter_error_state}). */
  void enterErrorState() {
    synchronized (stateLock) {
      if (state == DeviceState.INTERNAL_ERROR) {
        return;
      }
      state = DeviceState.INTERNAL_ERROR;
    }
    commands.flush();
    for (Mlx5EventListener each : listeners) {
      try {
        each.systemError();
      } catch (RuntimeException | LinkageError e) {
        LOG.error("{}: a listener failed on the system error", name(), e);
      }
    }
  }

  /** Lets the drivers go and takes back what the card had; it stays in error state. */
  void unload() {
    lifecycle.lock();
    try {
      down();
    } finally {
      lifecycle.unlock();
    }
  }

  @Override
  public void recover() {
    if (health.isFatal()) {
      health.recover();
    }
  }

  /** Down, and up again ({@code mlx5_health_try_recover}); it stays in error state when this throws. */
  void recoverNow() {
    lifecycle.lock();
    boolean done = false;
    try {
      checkOurs();
      if (registers.health("request_for_reset") != 0 && registers.nicState() != InitSegment.NIC_DISABLED) {
        registers.nicState(InitSegment.NIC_SW_RESET);
        awaitNicState(InitSegment.NIC_DISABLED, Timeout.FW_RESET);
      }
      down();
      awaitReadable();
      pci.disable();
      pci.enable();
      pci.setMaster(true);
      awaitVital();
      up(Timeout.FW_PRE_INIT_ON_RECOVERY);
      done = true;
    } finally {
      if (!done) {
        state = DeviceState.INTERNAL_ERROR;
      }
      lifecycle.unlock();
    }
  }

  private void awaitReadable() {
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeouts.millis(Timeout.FW_RESET));
    while (registers.health("fw_ver") == -1) {
      if (System.nanoTime() - end > 0 || hopeless()) {
        throw new Mlx5Exception(Mlx5Errno.EIO, "the card does not answer");
      }
      LockSupport.parkNanos(this, STEP_NANOS);
    }
  }

  /** The firmware is alive when its counter moves ({@code wait_vital}). */
  private void awaitVital() {
    int first = registers.healthCounter();
    for (int i = 0; i < VITAL_TRIES && !hopeless(); i++) {
      int now = registers.healthCounter();
      if (now != first && now != -1) {
        return;
      }
      LockSupport.parkNanos(this, VITAL_NANOS);
    }
    LOG.warn("{}: the health counter does not move", name());
  }

  /** Not ours any more, gone, or in the hands of the error recovery of PCI, which calls us. */
  private boolean hopeless() {
    return health.isDraining() || pci.channelState() != PciChannelState.NORMAL;
  }

  /** PCI reports an error: true when a reset of the slot may help ({@code mlx5_pci_err_detected}). */
  boolean pciError(PciChannelState channel) {
    enterErrorState();
    lifecycle.lock();
    try {
      down();
      pci.disable();
    } finally {
      lifecycle.unlock();
    }
    return channel != PciChannelState.PERMANENT_FAILURE;
  }

  /** The slot was reset: whether the card answers ({@code mlx5_pci_slot_reset}). */
  boolean slotReset() {
    lifecycle.lock();
    try {
      pci.enable();
      pci.setMaster(true);
      awaitVital();
      return registers.health("fw_ver") != -1;
    } catch (PciException e) {
      LOG.error("{}: not there after the reset of the slot", name(), e);
      return false;
    } finally {
      lifecycle.unlock();
    }
  }

  /** Up again after an error of PCI ({@code mlx5_pci_resume}). */
  void resume() {
    lifecycle.lock();
    try {
      up(Timeout.FW_PRE_INIT_ON_RECOVERY);
    } finally {
      lifecycle.unlock();
    }
  }

  // Commands

  @Override
  public CommandReply execute(CommandRequest request) {
    return commands.execute(request);
  }

  @Override
  public void trace(CommandTracer newTracer) {
    commands.trace(newTracer);
  }

  @Override
  public List<CommandStatistics> commandStatistics() {
    return commands.statistics();
  }

  // Services for drivers

  @Override
  public String name() {
    return pci.address().toString();
  }

  @Override
  public DeviceState state() {
    return state;
  }

  @Override
  public String firmwareVersion() {
    return firmwareVersion;
  }

  @Override
  public String boardId() {
    return boardId;
  }

  @Override
  public int deviceId() {
    return pci.identity().device();
  }

  @Override
  public int revision() {
    return pci.identity().revision();
  }

  @Override
  public int vendorId() {
    return vendorId;
  }

  @Override
  public Capabilities capabilities() {
    return capabilities;
  }

  @Override
  public DmaBuffer allocate(long bytes) {
    return memory.allocate(bytes);
  }

  @Override
  public DmaBuffer map(MemorySegment segment, boolean writable) {
    return memory.map(segment, writable);
  }

  @Override
  public DmaRange map(List<MemorySegment> pieces, long pageSize, boolean writable) {
    return memory.map(pieces, pageSize, writable);
  }

  @Override
  public DoorbellRecord allocateDoorbellRecord() {
    return memory.allocateDoorbellRecord();
  }

  @Override
  public UarPage uar() {
    return uar;
  }

  @Override
  public BlueFlameRegister allocateBlueFlame(boolean fastPath) {
    UarTable table = uars;
    if (table == null) {
      throw new Mlx5Exception(Mlx5Errno.ENODEV, name() + " is not up");
    }
    return table.register(fastPath);
  }

  @Override
  public int completionVectors() {
    EventQueues now = events;
    return now == null ? 0 : now.completionVectors();
  }

  @Override
  public int completionProcessor(int vector) {
    EventQueues now = events;
    if (now == null) {
      throw new Mlx5Exception(Mlx5Errno.ENODEV, name() + " is not up");
    }
    now.checkVector(vector);
    return pci.processor(vector);
  }

  @Override
  public CoreCompletionQueue createCompletionQueue(CommandRequest create, int vector, CompletionHandler handler) {
    EventQueues now = events;
    if (now == null) {
      throw new Mlx5Exception(Mlx5Errno.ENODEV, name() + " is not up");
    }
    return now.createCq(create, vector, handler);
  }

  @Override
  public boolean relax() {
    return pci.relax();
  }

  @Override
  public void addListener(Mlx5EventListener listener) {
    listeners.add(listener);
  }

  @Override
  public void removeListener(Mlx5EventListener listener) {
    listeners.remove(listener);
    EventQueues now = events;
    if (now != null) {
      now.barrier();
    }
  }

  @Override
  public void takeEvents() {
    EventQueues now = events;
    if (now != null) {
      now.takeAsync();
    }
  }

  @Override
  public int nextKeyVariant() {
    return keyVariant.getAndIncrement() & 0xff;
  }

  @Override
  public int parameter(DeviceParameter parameter) {
    synchronized (parameters) {
      return parameters.getOrDefault(parameter, parameter.initial());
    }
  }

  @Override
  public void parameter(DeviceParameter parameter, int value) {
    if (value < parameter.least() || value > parameter.most()) {
      throw new Mlx5Exception(
          Mlx5Errno.EINVAL,
          "%s %d: allowed are %d to %d".formatted(parameter.text(), value, parameter.least(), parameter.most()));
    }
    synchronized (parameters) {
      parameters.put(parameter, value);
    }
  }

  @Override
  public List<HealthReporter> healthReporters() {
    return health.reporters();
  }

  @Override
  public void gracePeriod(long millis) {
    health.grace(millis);
  }

  @Override
  public String toString() {
    return name() + " " + state;
  }
}
