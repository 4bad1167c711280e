package org.rdma4j.mlx5.core.internal;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import org.rdma4j.mlx5.core.CommandChannel;
import org.rdma4j.mlx5.core.CommandRequest;
import org.rdma4j.mlx5.core.CompletionHandler;
import org.rdma4j.mlx5.core.DeviceParameter;
import org.rdma4j.mlx5.core.Mlx5Errno;
import org.rdma4j.mlx5.core.Mlx5EventListener;
import org.rdma4j.mlx5.core.Mlx5Exception;
import org.rdma4j.mlx5.core.UarPage;
import org.rdma4j.mlx5.ifc.EventType;
import org.rdma4j.mlx5.ifc.Field;
import org.rdma4j.mlx5.ifc.Layouts;
import org.rdma4j.mlx5.ifc.Opcode;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All event queues of a card, and where their entries go (kernel: {@code eq.c}, {@code events.c}): completions to their
 * queues, answers to the command interface, requests for pages to the page supply, everything else to listeners.
 */
final class EventQueues {
  private static final Logger LOG = LoggerFactory.getLogger(EventQueues.class);
  private static final int COMMAND_ENTRIES = 32;
  private static final int PAGE_ENTRIES = 1;
  private static final long[] NONE = new long[4];

  private static final Field TYPE = Layouts.EQE.field("event_type");
  private static final Field SUB_TYPE = Layouts.EQE.field("event_sub_type");
  private static final Field COMPLETED = Layouts.EQE.field("completion_cqn");
  private static final Field RESOURCE = Layouts.EQE.field("qp_resource_type");
  private static final Field NUMBER = Layouts.EQE.field("qp_number");
  private static final Field CQ_ERROR_NUMBER = Layouts.EQE.field("cq_error_cqn");
  private static final Field CQ_ERROR_SYNDROME = Layouts.EQE.field("cq_error_syndrome");
  private static final Field PORT = Layouts.EQE.field("port");
  private static final Field COMMANDS = Layouts.EQE.field("command_vector");
  private static final Field RELEASE_ALL = Layouts.EQE.field("pages_release_all");
  private static final Field PAGES = Layouts.EQE.field("pages_num");

  private final CoreDevice device;
  private final CommandInterface commands;
  private final InterruptVectors vectors;
  private final Uar uar;
  private final PageSupply pages;
  private final ExecutorService pageWork;
  private final List<Mlx5EventListener> listeners;
  private final NumberTable<CoreCq> cqs = new NumberTable<>();
  private final List<EventQueue> completion = new CopyOnWriteArrayList<>();
  private EventQueue async;
  private volatile int vectorsCreated;

  EventQueues(
      CoreDevice device,
      CommandInterface commands,
      InterruptVectors vectors,
      Uar uar,
      PageSupply pages,
      ExecutorService pageWork,
      List<Mlx5EventListener> listeners) {
    this.device = device;
    this.commands = commands;
    this.vectors = vectors;
    this.uar = uar;
    this.pages = pages;
    this.pageWork = pageWork;
    this.listeners = listeners;
  }

  UarPage uar() {
    return uar;
  }

  CommandChannel channel() {
    return device;
  }

  /** Creates all of them in the kernel's order (section 5.3, steps 23 to 25). */
  void create(Ladder ladder, int eventQueuesOfCard) {
    int control = vectors.control();
    EventQueue command = queue("mlx5_cmd_eq", COMMAND_ENTRIES, this::commandEvent);
    ladder.done("memory of the command event queue", command::free);
    commands.allow(Opcode.CREATE_EQ);
    ladder.done("only one kind of command", () -> commands.allow(null));
    start(ladder, command, control, maskOf(EventType.COMMAND_COMPLETION));
    commands.onMissingEvent(command::take);
    commands.useEvents(true);
    ladder.done(
        "waiting for events of commands",
        () -> {
          commands.allow(Opcode.DESTROY_EQ);
          commands.useEvents(false);
        });
    commands.allow(null);
    async = queue("mlx5_async_eq", device.parameter(DeviceParameter.EVENT_EQ_SIZE), this::asyncEvent);
    ladder.done("memory of the event queue", async::free);
    start(ladder, async, control, asyncMask());
    EventQueue page = queue("mlx5_pages_eq", PAGE_ENTRIES, this::pageEvent);
    ladder.done("memory of the page event queue", page::free);
    start(ladder, page, control, maskOf(EventType.PAGE_REQUEST));
    createCompletion(ladder, eventQueuesOfCard);
  }

  private void createCompletion(Ladder ladder, int eventQueuesOfCard) {
    int count = Math.max(1, Math.min(Math.max(1, vectors.count() - 1), eventQueuesOfCard - 3));
    List<EventQueue> created = new ArrayList<>();
    // Destroyed in the order in which they were made, as the kernel does.
    ladder.done("completion event queues", () -> created.forEach(this::finishCompletion));
    for (int i = 0; i < count; i++) {
      EventQueue each = queue("mlx5_comp" + i, device.parameter(DeviceParameter.IO_EQ_SIZE), this::completionEvent);
      boolean started = false;
      try {
        each.create(device, i, NONE, device.capabilities().general("log_max_uctx") > 0);
        started = true;
      } finally {
        if (!started) {
          each.free();
        }
      }
      created.add(each);
      vectors.attach(each, i);
      each.arm();
      completion.add(each);
      vectorsCreated = i + 1;
    }
  }

  private void finishCompletion(EventQueue queue) {
    completion.remove(queue);
    vectors.detach(queue, queue.vector());
    destroy(queue);
    queue.free();
  }

  private EventQueue queue(String name, int entries, EventQueue.Handler handler) {
    return new EventQueue(device.pci(), name, entries, uar, handler);
  }

  private void start(Ladder ladder, EventQueue queue, int vector, long[] mask) {
    queue.create(device, vector, mask, device.capabilities().general("log_max_uctx") > 0);
    ladder.done(queue.name(), () -> destroy(queue));
    vectors.attach(queue, vector);
    ladder.done("interrupt of " + queue.name(), () -> vectors.detach(queue, vector));
    queue.arm();
  }

  private void destroy(EventQueue queue) {
    try {
      queue.destroy(device);
    } catch (Mlx5Exception e) {
      LOG.warn("{}: {} is not destroyed: {}", device.name(), queue.name(), e.getMessage());
    }
  }

  private static long[] maskOf(EventType... types) {
    long[] mask = new long[4];
    for (EventType type : types) {
      mask[type.number() / Long.SIZE] |= 1L << type.number();
    }
    return mask;
  }

  private long[] asyncMask() {
    long[] mask =
        maskOf(
            EventType.PATH_MIGRATED,
            EventType.COMMUNICATION_ESTABLISHED,
            EventType.SQ_DRAINED,
            EventType.CQ_ERROR,
            EventType.WQ_CATASTROPHIC_ERROR,
            EventType.PATH_MIGRATION_FAILED,
            EventType.PORT_CHANGE,
            EventType.WQ_INVALID_REQUEST,
            EventType.WQ_ACCESS_ERROR,
            EventType.SRQ_CATASTROPHIC_ERROR,
            EventType.SRQ_LAST_WQE,
            EventType.SRQ_LIMIT);
    if (device.capabilities().has("general_notification_event")) {
      mask[0] |= 1L << EventType.GENERAL.number();
    }
    if (device.capabilities().has("vport_group_manager")) {
      mask[0] |= 1L << EventType.NIC_VPORT_CHANGE.number();
    }
    return mask;
  }

  int completionVectors() {
    return completion.size();
  }

  /** The event queue of a vector; EINVAL when there never was one, ENODEV when it is gone already. */
  private EventQueue completionQueue(int vector) {
    for (EventQueue each : completion) {
      if (each.vector() == vector) {
        return each;
      }
    }
    if (vector < 0 || vector >= vectorsCreated) {
      throw new Mlx5Exception(
          Mlx5Errno.EINVAL, "completion vector " + vector + ": allowed are 0 to " + (vectorsCreated - 1));
    }
    throw new Mlx5Exception(Mlx5Errno.ENODEV, device.name() + " goes down");
  }

  void checkVector(int vector) {
    completionQueue(vector);
  }

  CoreCq createCq(CommandRequest create, int vector, CompletionHandler handler) {
    int eqn = completionQueue(vector).number();
    create
        .structure("cq_context")
        .set("c_eqn_or_apu_element", eqn)
        .set("uar_page", uar.index());
    int number = device.execute(create).get("cqn");
    CoreCq cq = new CoreCq(this, number, vector, handler);
    cqs.put(number, cq);
    return cq;
  }

  void forget(CoreCq cq, Runnable destroy) {
    cqs.remove(cq.number());
    try {
      destroy.run();
    } finally {
      for (EventQueue each : completion) {
        if (each.vector() == cq.vector()) {
          each.barrier();
        }
      }
      async.barrier();
    }
  }

  private void completionEvent(MemorySegment entries, long offset) {
    CoreCq cq = cqs.get(COMPLETED.get(entries, offset));
    if (cq != null) {
      cq.completed();
    }
  }

  private void commandEvent(MemorySegment entries, long offset) {
    if (TYPE.get(entries, offset) == EventType.COMMAND_COMPLETION.number()) {
      commands.completed(COMMANDS.get(entries, offset));
    }
  }

  private void pageEvent(MemorySegment entries, long offset) {
    if (TYPE.get(entries, offset) == EventType.PAGE_REQUEST.number()) {
      int count = PAGES.get(entries, offset);
      boolean all = RELEASE_ALL.isSet(entries, offset);
      pageWork.execute(() -> pages.requested(count, all));
    }
  }

  private void asyncEvent(MemorySegment entries, long offset) {
    EventType type = EventType.of(TYPE.get(entries, offset));
    if (type == null) {
      LOG.warn("{}: event of unknown type 0x{}", device.name(), Integer.toHexString(TYPE.get(entries, offset)));
      return;
    }
    if (type == EventType.CQ_ERROR) {
      CoreCq cq = cqs.get(CQ_ERROR_NUMBER.get(entries, offset));
      if (cq != null) {
        cq.failed(CQ_ERROR_SYNDROME.get(entries, offset));
      }
      return;
    }
    boolean ofPort = type == EventType.PORT_CHANGE;
    Mlx5EventListener.Event event =
        new Mlx5EventListener.Event(
            type,
            SUB_TYPE.get(entries, offset),
            ofPort ? 0 : RESOURCE.get(entries, offset),
            ofPort ? 0 : NUMBER.get(entries, offset),
            ofPort ? PORT.get(entries, offset) : 0);
    for (Mlx5EventListener each : listeners) {
      deliver(each, event);
    }
  }

  private void deliver(Mlx5EventListener listener, Mlx5EventListener.Event event) {
    try {
      listener.event(event);
    } catch (RuntimeException | LinkageError e) {
      LOG.error("{}: a listener failed on {}", device.name(), event, e);
    }
  }

  /** Takes the events of objects and the port that are there. */
  void takeAsync() {
    boolean more = true;
    while (more) {
      more = async.take();
    }
  }

  /** Returns when no listener is in an event that came before. */
  void barrier() {
    async.barrier();
  }
}
