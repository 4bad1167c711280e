package org.rdma4j.mlx5.core.internal;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.rdma4j.mlx5.core.CapabilityType;
import org.rdma4j.mlx5.ifc.Command;
import org.rdma4j.mlx5.ifc.Layouts;
import org.rdma4j.mlx5.ifc.Opcode;
import org.rdma4j.pci.BarLayout;
import org.rdma4j.pci.DmaFault;
import org.rdma4j.pci.MsixLayout;
import org.rdma4j.pci.PciCard;
import org.rdma4j.pci.PciHost;
import org.rdma4j.pci.PciIdentity;

/**
 * Answers commands on the thread that rings, with zeros and fresh numbers unless told otherwise, and keeps what it was
 * given: no device, but everything that the driver can see of one.
 */
final class ScriptedCard implements PciCard {
  /** What a command is answered with. */
  interface Answer {
    /** Fills in the output; returns the status, or {@link #NONE}. */
    int give(MemorySegment input, MemorySegment output);
  }

  /** The command is never answered. */
  static final int NONE = -1;

  static final int VECTORS = 8;
  private static final int BOOT_PAGES = 8;
  private static final int INIT_PAGES = 140;
  private static final ValueLayout.OfInt DWORD = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final ValueLayout.OfLong QWORD = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final int UAR = 4096;

  private static final class Queue {
    private int logSize;
    private int vector;
    private long events;
    private long[] pages;
    private int producer;
    private int consumer;
    private boolean armed;
  }

  final List<String> commands = new CopyOnWriteArrayList<>();
  final Map<Opcode, Answer> answers = new EnumMap<>(Opcode.class);
  final Set<Long> pages = new ConcurrentSkipListSet<>();
  final Map<Integer, Queue> queues = new TreeMap<>(); // guarded by this
  final List<String> doorbells = new CopyOnWriteArrayList<>();
  final MemorySegment registers = Arena.ofAuto().allocate(Layouts.INIT_SEGMENT.size(), Long.BYTES);
  private final Map<Integer, MemorySegment> capabilities = new TreeMap<>();
  volatile PciHost host;
  volatile boolean losesEvents;
  volatile boolean losesInterrupts;
  volatile int delivery;
  volatile boolean badSignature;
  volatile long healthPollMillis = 10;
  int resets;
  private int number = 1;

  ScriptedCard() {
    powerOn();
  }

  private void powerOn() {
    registers.fill((byte) 0);
    set("fw_rev_major", 16);
    set("fw_rev_minor", 35);
    set("fw_rev_subminor", 1000);
    set("cmd_interface_rev", 5);
    set("log_cmdq_size", 5);
    set("log_cmdq_stride", 6);
    set("nic_interface", 1);
    set("cmd_q_init_to_value", 1000);
    set("cmd_exec_to_value", 300);
    for (CapabilityType type : CapabilityType.values()) {
      capabilities.put(type.number(), Arena.ofAuto().allocate(4096, Long.BYTES));
    }
    for (String flag : List.of("roce", "atomic", "xrc", "bf", "driver_version", "release_all_pages", "hca_cap_2")) {
      capability(CapabilityType.GENERAL, flag, 1);
    }
    capability(CapabilityType.GENERAL, "log_max_qp", 17);
    capability(CapabilityType.GENERAL, "log_max_eq", 6);
    capability(CapabilityType.GENERAL, "num_ports", 1);
    capability(CapabilityType.GENERAL, "port_type", 1);
    capability(CapabilityType.GENERAL, "log_bf_reg_size", 9);
    capability(CapabilityType.GENERAL, "disable_local_lb_mc", 1);
    capability(CapabilityType.GENERAL, "cmdif_checksum", 3);
    capability(CapabilityType.ATOMIC, "supported_atomic_req_8B_endianness_mode_1", 1);
    capability(CapabilityType.ROCE, "sw_r_roce_src_udp_port", 0);
    capability(CapabilityType.GENERAL_2, "sw_vhca_id_valid", 1);
  }

  void set(String field, int value) {
    Layouts.INIT_SEGMENT.field(field).set(registers, 0, value);
  }

  void health(String field, int value) {
    Layouts.HEALTH_BUFFER.field(field)
        .set(registers, Layouts.INIT_SEGMENT.field("health_buffer").offset(), value);
  }

  void capability(CapabilityType type, String field, int value) {
    type.layout().field(field).set(capabilities.get(type.number()), 0, value);
  }

  int capability(CapabilityType type, String field) {
    return type.layout().field(field).get(capabilities.get(type.number()), 0);
  }

  @Override
  public PciIdentity identity() {
    return new PciIdentity(0x15b3, 0x1019, 0x15b3, 8, 0x020000, 0, "Test", "scripted ConnectX-5 Ex");
  }

  @Override
  public Map<Integer, BarLayout> bars() {
    return Map.of(0, new BarLayout(1 << 24, true, true));
  }

  @Override
  public Optional<MsixLayout> msix() {
    return Optional.of(new MsixLayout(VECTORS, 0, 0x4000, 0, 0x5000));
  }

  @Override
  public void plugged(PciHost newHost) {
    host = newHost;
  }

  @Override
  public void reset() {
    resets++;
    powerOn();
    pages.clear();
    synchronized (this) {
      queues.clear();
    }
  }

  @Override
  public void unplugged() {
    host = null;
  }

  @Override
  public int read(int bar, long offset) {
    if (offset >= registers.byteSize()) {
      return 0;
    }
    if (offset == Layouts.INIT_SEGMENT.field("health_counter").offset()) {
      beat();
    }
    return Integer.reverseBytes(registers.get(DWORD, offset));
  }

  /** The counter moves each time somebody looks, unless it is stuck. */
  volatile boolean stuck;

  private synchronized void beat() {
    if (!stuck) {
      set("health_counter", Layouts.INIT_SEGMENT.field("health_counter").get(registers, 0) + 1);
    }
  }

  @Override
  public void write(int bar, long offset, int little) {
    int value = Integer.reverseBytes(little);
    if (offset == 0x10) {
      set("cmdq_addr_h", value);
    } else if (offset == 0x14) {
      set("cmdq_addr_l", value >>> 12);
      int state = value >>> 8 & 7;
      if (state == 7) {
        reset(); // Takes no time.
      } else {
        set("nic_interface", state);
      }
    } else if (offset == 0x18) {
      for (int i = 0; i < 32; i++) {
        if ((value & 1 << i) != 0) {
          command(i);
        }
      }
    } else if (offset >= UAR) {
      ring((int) (offset / UAR), (int) (offset % UAR), value);
    }
  }

  @Override
  public void write(int bar, long offset, long little) {
    doorbells.add("uar %d+0x%x: %016x".formatted(offset / UAR, offset % UAR, Long.reverseBytes(little)));
  }

  private synchronized void ring(int page, int offset, int value) {
    if (offset != 0x40 && offset != 0x48) {
      doorbells.add("uar %d+0x%x: %08x".formatted(page, offset, value));
      return;
    }
    Queue queue = queues.get(value >>> 24);
    if (queue != null) {
      queue.consumer = value & 0xff_ffff;
      queue.armed = offset == 0x40;
      if (queue.armed && queue.producer != queue.consumer) {
        queue.armed = false;
        host.raise(queue.vector);
      }
    }
  }

  private long queueAddress() {
    return Integer.toUnsignedLong(Layouts.INIT_SEGMENT.field("cmdq_addr_h").get(registers, 0)) << 32
        | (long) Layouts.INIT_SEGMENT.field("cmdq_addr_l").get(registers, 0) << 12;
  }

  private void command(int slot) {
    try {
      command(queueAddress() + 64L * slot, slot);
    } catch (DmaFault e) {
      forget(e);
    }
  }

  private void command(long at, int slot) throws DmaFault {
    MemorySegment entry = Arena.ofAuto().allocate(64, Long.BYTES);
    host.read(at, entry, 0, 64);
    MemorySegment input = Arena.ofAuto().allocate(Math.max(16, entry.get(DWORD, 4)), Long.BYTES);
    MemorySegment.copy(entry, 0x10, input, 0, 16);
    long chain = entry.get(QWORD, 8);
    for (long done = 16; done < input.byteSize(); done += 512) {
      host.read(chain, input, done, Math.min(512, input.byteSize() - done));
      badSignature |= signs() && !isSigned(chain);
      chain = next(chain);
    }
    MemorySegment output = Arena.ofAuto().allocate(Math.max(16, entry.get(DWORD, 0x38)), Long.BYTES);
    Opcode opcode = Opcode.of(Command.OPCODE.get(input, 0));
    commands.add(opcode.text() + " " + Command.OP_MOD.get(input, 0) + detail(opcode, input));
    int status = answer(opcode, input, output);
    if (status == NONE) {
      return;
    }
    finish(at, slot, entry, output, status);
  }

  private void finish(long at, int slot, MemorySegment entry, MemorySegment output, int status) throws DmaFault {
    output.set(ValueLayout.JAVA_BYTE, 0, (byte) status);
    MemorySegment.copy(output, 0, entry, 0x20, 16);
    long chain = entry.get(QWORD, 0x30);
    for (long done = 16; done < output.byteSize(); done += 512) {
      host.write(chain, output, done, Math.min(512, output.byteSize() - done));
      if (signs()) {
        sign(chain);
      }
      chain = next(chain);
    }
    host.write(at + 0x20, entry, 0x20, 16);
    entry.set(ValueLayout.JAVA_BYTE, 0x3f, (byte) (delivery << 1));
    host.write(at + 0x3f, entry, 0x3f, 1);
    if (!losesEvents) {
      event(0x0a, eqe -> eqe.set(DWORD, 0x20, 1 << slot));
    }
  }

  private boolean signs() {
    return capability(CapabilityType.GENERAL, "cmdif_checksum") != 0 && commands.contains("SET_HCA_CAP 0");
  }

  private boolean isSigned(long block) throws DmaFault {
    MemorySegment copy = Arena.ofAuto().allocate(576, Long.BYTES);
    host.read(block, copy, 0, 576);
    return MailboxChain.xor(copy, 0x200, 0x3f) == 0xff && MailboxChain.xor(copy, 0, 576) == 0xff;
  }

  private void sign(long block) throws DmaFault {
    MemorySegment copy = Arena.ofAuto().allocate(576, Long.BYTES);
    host.read(block, copy, 0, 574);
    copy.set(ValueLayout.JAVA_BYTE, 0x23e, (byte) ~MailboxChain.xor(copy, 0x200, 0x3e));
    copy.set(ValueLayout.JAVA_BYTE, 0x23f, (byte) ~MailboxChain.xor(copy, 0, 575));
    host.write(block + 0x23e, copy, 0x23e, 2);
  }

  /** The answer to a command that was not answered comes after all. */
  void answerLate(int slot) {
    long at = queueAddress() + 64L * slot;
    try {
      MemorySegment entry = Arena.ofAuto().allocate(64, Long.BYTES);
      host.read(at, entry, 0, 64);
      finish(at, slot, entry, Arena.ofAuto().allocate(16, Long.BYTES), 0);
    } catch (DmaFault e) {
      forget(e);
    }
  }

  private long next(long block) throws DmaFault {
    MemorySegment pointer = Arena.ofAuto().allocate(8, Long.BYTES);
    host.read(block + 0x230, pointer, 0, 8);
    return pointer.get(QWORD, 0);
  }

  private static String detail(Opcode opcode, MemorySegment input) {
    return switch (opcode) {
      case ACCESS_REG -> " 0x%04x".formatted(Command.in(opcode, "register_id").get(input, 0));
      case MANAGE_PAGES -> " " + Command.in(opcode, "input_num_entries").get(input, 0);
      case CREATE_EQ -> " 0x%x".formatted(input.get(QWORD, 0x58));
      case TEARDOWN_HCA -> " " + Command.in(opcode, "profile").get(input, 0);
      default -> "";
    };
  }

  private synchronized int answer(Opcode opcode, MemorySegment input, MemorySegment output) {
    Answer told = answers.get(opcode);
    if (told != null) {
      int status = told.give(input, output);
      if (status != 0) {
        return status;
      }
    }
    int modifier = Command.OP_MOD.get(input, 0);
    switch (opcode) {
      case QUERY_ISSI -> Command.out(opcode, "supported_issi_dw0").set(output, 0, 2);
      case QUERY_PAGES ->
          Command.out(opcode, "num_pages").set(output, 0, modifier == 1 ? BOOT_PAGES : INIT_PAGES);
      case MANAGE_PAGES -> manage(modifier, input, output);
      case QUERY_HCA_CAP -> MemorySegment.copy(capabilities.get(modifier >> 1), 0, output, 16, 4096);
      case SET_HCA_CAP -> MemorySegment.copy(input, 16, capabilities.get(modifier >> 1), 0, 4096);
      case CREATE_EQ -> createQueue(input, output);
      case ACCESS_REG -> {
        MemorySegment.copy(input, 16, output, 16, output.byteSize() - 16);
        if (Command.in(opcode, "register_id").get(input, 0) == 0xc00e) {
          output.set(DWORD, 16 + 0x14, (int) healthPollMillis);
        }
      }
      case DESTROY_EQ -> queues.remove(Command.in(opcode, "eq_number").get(input, 0));
      case QUERY_ADAPTER -> {
        output.set(DWORD, 0x28, 0x2c9);
        output.setString(0x100, "RDM0000000001", StandardCharsets.US_ASCII);
      }
      default -> {
        if (opcode.name().startsWith("CREATE_") || opcode.name().startsWith("ALLOC_")) {
          output.set(DWORD, 8, number++);
        }
      }
    }
    return 0;
  }

  private void manage(int modifier, MemorySegment input, MemorySegment output) {
    int count = Command.in(Opcode.MANAGE_PAGES, "input_num_entries").get(input, 0);
    if (modifier == 1) {
      for (int i = 0; i < count; i++) {
        pages.add(input.get(QWORD, 16 + 8L * i));
      }
    } else if (modifier == 2) {
      List<Long> back = new ArrayList<>(pages).subList(0, Math.min(count, pages.size()));
      for (int i = 0; i < back.size(); i++) {
        output.set(QWORD, 16 + 8L * i, back.get(i));
      }
      back.forEach(pages::remove);
      Command.out(Opcode.MANAGE_PAGES, "output_num_entries").set(output, 0, back.size());
    }
  }

  private void createQueue(MemorySegment input, MemorySegment output) {
    Queue queue = new Queue();
    queue.logSize = Layouts.EQC.field("log_eq_size").get(input, 16);
    queue.vector = Layouts.EQC.field("intr").get(input, 16);
    queue.events = input.get(QWORD, 0x58);
    queue.pages = new long[(64 << queue.logSize) / 4096];
    for (int i = 0; i < queue.pages.length; i++) {
      queue.pages[i] = input.get(QWORD, 0x110 + 8L * i);
    }
    int eqn = number++;
    queues.put(eqn, queue);
    output.set(DWORD, 8, eqn);
  }

  /** Without power or bus mastering nothing is written; an address that is not mapped is a mistake of the driver. */
  private static void forget(DmaFault fault) {
    if (fault.reason() == DmaFault.Reason.UNMAPPED || fault.reason() == DmaFault.Reason.DIRECTION) {
      throw new IllegalStateException(fault);
    }
  }

  /** Writes an event where its type belongs. */
  synchronized void event(int type, Consumer<MemorySegment> fill) {
    for (Queue each : queues.values()) {
      if ((each.events & 1L << type) != 0) {
        write(each, type, fill);
      }
    }
  }

  /** Writes a completion event of a queue into the event queue of a number. */
  synchronized void completion(int eqn, int cqn) {
    write(queues.get(eqn), 0, eqe -> eqe.set(DWORD, 0x38, cqn));
  }

  private void write(Queue queue, int type, Consumer<MemorySegment> fill) {
    MemorySegment eqe = Arena.ofAuto().allocate(64, Long.BYTES);
    eqe.set(ValueLayout.JAVA_BYTE, 1, (byte) type);
    fill.accept(eqe);
    int owner = queue.producer >> queue.logSize & 1;
    int index = queue.producer & (1 << queue.logSize) - 1;
    long at = queue.pages[index / 64] + index % 64 * 64L;
    eqe.set(ValueLayout.JAVA_BYTE, 0x3f, (byte) (owner ^ 1));
    try {
      host.write(at, eqe, 0, 64);
      eqe.set(ValueLayout.JAVA_BYTE, 0x3f, (byte) owner);
      host.write(at + 0x3f, eqe, 0x3f, 1);
    } catch (DmaFault e) {
      forget(e);
    }
    queue.producer = queue.producer + 1 & 0xff_ffff;
    if (queue.armed && !losesInterrupts) {
      queue.armed = false;
      host.raise(queue.vector);
    }
  }

  synchronized List<Integer> queueNumbers() {
    return List.copyOf(queues.keySet());
  }

  synchronized boolean isCompletion(int eqn, int vector) {
    return queues.get(eqn).vector == vector && queues.get(eqn).events == 0;
  }
}
