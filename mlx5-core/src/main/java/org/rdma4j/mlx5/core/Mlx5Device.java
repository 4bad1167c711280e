package org.rdma4j.mlx5.core;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.osgi.annotation.versioning.ProviderType;

/**
 * A card that is up ({@code struct mlx5_core_dev}). Safe for any thread. Commands block and must not be given on an
 * interrupt thread.
 */
@ProviderType
public interface Mlx5Device extends CommandChannel {
  /** {@return address of the PCI function, as {@code 0000:03:00.0}} */
  String name();

  /** {@return how it is} */
  DeviceState state();

  /** {@return firmware version, as {@code 16.35.1000}} */
  String firmwareVersion();

  /** {@return the board's id (PSID)} */
  String boardId();

  /** {@return PCI device id} */
  int deviceId();

  /** {@return PCI revision} */
  int revision();

  /** {@return the IEEE vendor id that the adapter says} */
  int vendorId();

  /** {@return what it can do} */
  Capabilities capabilities();

  /**
   * {@inheritDoc}
   *
   * <p>While the device is in error state, commands that only give something back succeed without the card, with an
   * output of zeros; all others fail with EIO.
   */
  @Override
  CommandReply execute(CommandRequest request);

  /** {@return all kinds of commands that were given, by opcode} */
  List<CommandStatistics> commandStatistics();

  /**
   * Lets somebody see every command of this card, in place of who sees those of all cards by a service. Only one at a
   * time can; without one it costs nothing.
   *
   * @param tracer who wants to see, or null for nobody
   */
  void trace(CommandTracer tracer);

  /**
   * Allocates zeroed memory for the card and the processor ({@code mlx5_frag_buf_alloc_node}).
   *
   * @param bytes at least 1
   * @return the memory, beginning with a page
   * @throws Mlx5Exception ENOMEM
   */
  DmaBuffer allocate(long bytes);

  /**
   * Gives memory to the card. The low 12 bits of the address are those of the memory.
   *
   * @param memory native memory that any thread may use
   * @param writable whether the card may write
   * @return the mapping
   * @throws Mlx5Exception EINVAL for other memory, ENOMEM
   */
  DmaBuffer map(MemorySegment memory, boolean writable);

  /**
   * Gives pieces of memory to the card as one. Every piece but the first begins with a page and every one but the last
   * ends with one, or goes on in memory where the piece before it ended.
   *
   * @param pieces native memory that any thread may use; at least one piece
   * @param pageSize a power of two of at least 4096: the place of the first byte in such a page is kept
   * @param writable whether the card may write
   * @return the mapping
   * @throws Mlx5Exception EINVAL for other memory and for pieces that do not fit together, ENOMEM
   */
  DmaRange map(List<MemorySegment> pieces, long pageSize, boolean writable);

  /**
   * Allocates a doorbell record ({@code mlx5_db_alloc}).
   *
   * @return the record, zeroed
   * @throws Mlx5Exception ENOMEM
   */
  DoorbellRecord allocateDoorbellRecord();

  /** {@return the doorbell page that the driver shares with everybody, for completion queues} */
  UarPage uar();

  /**
   * Allocates a send doorbell ({@code mlx5_alloc_bfreg}).
   *
   * @param fastPath whether it is for a queue that nobody shares the register with
   * @return the register
   * @throws CommandException when the card has no page left
   */
  BlueFlameRegister allocateBlueFlame(boolean fastPath);

  /** {@return how many completion vectors there are} */
  int completionVectors();

  /**
   * Tells which processor a completion vector interrupts ({@code mlx5_comp_irq_get_affinity_mask}).
   *
   * @param vector the completion vector, from 0
   * @return the processor, from 0: handlers of vectors with the same processor share a thread
   * @throws Mlx5Exception EINVAL for a vector that does not exist, ENODEV when the card is not up
   */
  int completionProcessor(int vector);

  /**
   * Creates a completion queue and connects it to its events ({@code mlx5_core_create_cq}). The event queue and the
   * state of arming are filled in.
   *
   * @param create CREATE_CQ with context and page list
   * @param vector the completion vector, from 0
   * @param handler what to do on its events
   * @return the queue
   * @throws CommandException when the card refuses
   * @throws Mlx5Exception EINVAL for a vector that does not exist
   */
  CoreCompletionQueue createCompletionQueue(CommandRequest create, int vector, CompletionHandler handler);

  /**
   * The calling thread polls a completion queue without end and has found nothing ({@code cpu_relax}); the card may get
   * on meanwhile ({@link org.rdma4j.pci.PciDevice#relax}). For who holds no lock that a {@link CompletionHandler}
   * wants. Neither waits nor allocates.
   *
   * @return whether something was done, so that it is worthwhile to look again
   */
  boolean relax();

  /**
   * Adds somebody who hears of events.
   *
   * @param listener who
   */
  void addListener(Mlx5EventListener listener);

  /**
   * Removes somebody who hears of events; when this returns, no event is being told and none will be. A system error
   * that is being told may still be.
   *
   * @param listener who
   */
  void removeListener(Mlx5EventListener listener);

  /**
   * Takes the events that the card has written so far, which may be on the caller's thread: when this returns,
   * listeners have heard of everything that came before the answer of a command that the caller has. Not from a
   * listener.
   */
  void takeEvents();

  /** {@return the low byte for the next memory key, each time another} */
  int nextKeyVariant();

  /**
   * Reads a setting.
   *
   * @param parameter which one
   * @return its value
   */
  int parameter(DeviceParameter parameter);

  /**
   * Changes a setting, which takes effect with the next {@link #reload}.
   *
   * @param parameter which one
   * @param value its value
   * @throws Mlx5Exception EINVAL for a value that is not allowed
   */
  void parameter(DeviceParameter parameter, int value);

  /**
   * Lets the card go down and come up again ({@code devlink dev reload}): its auxiliary devices go and come.
   *
   * @throws Mlx5Exception when it does not come up
   */
  void reload();

  /** {@return the health reporters} */
  List<HealthReporter> healthReporters();

  /**
   * Says how long after a recovery the next one may start by itself ({@code devlink health set grace_period}).
   *
   * @param millis in ms, at least 0
   */
  void gracePeriod(long millis);

  /**
   * Recovers from a fatal error now, whatever the grace period says ({@code devlink health recover}). Does nothing when
   * there is none.
   *
   * @throws Mlx5Exception when the card does not come up
   */
  void recover();
}
