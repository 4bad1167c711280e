package org.rdma4j.tools.mlx5.trace;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import org.rdma4j.ib.core.verbs.QueuePair;
import org.rdma4j.ib.core.verbs.VerbsObject;
import org.rdma4j.ib.core.verbs.VerbsTracer;
import org.rdma4j.mlx5.core.CommandException;
import org.rdma4j.mlx5.core.CommandRecord;
import org.rdma4j.mlx5.core.CommandTracer;
import org.rdma4j.mlx5.device.PacketTracer;
import org.rdma4j.mlx5.ifc.Command;
import org.rdma4j.mlx5.ifc.CommandStatus;
import org.rdma4j.mlx5.ifc.Opcode;
import org.rdma4j.pci.PciAddress;
import org.rdma4j.pci.PciTracer;
import org.rdma4j.roce.packet.PacketFormatter;

/**
 * Keeps what the tracers of all rooms see of one card, up to a number of events; what comes after that is counted only.
 * Safe for any thread.
 */
public final class Recording implements VerbsTracer, CommandTracer, PciTracer, PacketTracer {
  private static final double NANOS_PER_MICRO = 1_000.0;

  /** What a thread is in. */
  private static final class Nesting {
    private final Deque<Long> begun = new ArrayDeque<>();
  }

  private final String slot;
  private final Set<Layer> layers;
  private final long most;
  private final Queue<TraceEvent> events = new ConcurrentLinkedQueue<>();
  private final AtomicLong count = new AtomicLong();
  private final Map<Thread, Nesting> nestings = new ConcurrentHashMap<>();
  private final DmaNames names = new DmaNames();

  /**
   * Makes an empty recording.
   *
   * @param slot the PCI function, as {@code 0000:03:00.0}
   * @param layers what is kept
   * @param most how many events are kept
   */
  public Recording(String slot, Set<Layer> layers, long most) {
    this.slot = slot;
    this.layers = Set.copyOf(layers);
    this.most = most;
  }

  /** {@return what was seen, in no order} */
  public List<TraceEvent> events() {
    return List.copyOf(events);
  }

  /** {@return how many events there was no room for} */
  public long dropped() {
    return Math.max(0, count.get() - most);
  }

  private Nesting nesting() {
    return nestings.computeIfAbsent(Thread.currentThread(), thread -> new Nesting());
  }

  /** What was seen at that time; its words were made after it. */
  private void add(long nanos, Layer layer, String text, Map<String, Object> fields) {
    if (layers.contains(layer)) {
      long sequence = count.getAndIncrement();
      if (sequence < most) {
        Thread thread = Thread.currentThread();
        int depth = nesting().begun.size();
        events.add(new TraceEvent(nanos, sequence, thread.getName(), depth, layer, text, fields));
      }
    }
  }

  private static Map<String, Object> fields(Object... namesAndValues) {
    Map<String, Object> fields = new LinkedHashMap<>();
    for (int i = 0; i < namesAndValues.length; i += 2) {
      fields.put((String) namesAndValues[i], namesAndValues[i + 1]);
    }
    return fields;
  }

  /** Microseconds since what is ending began, in which the thread is no more. */
  private double leave() {
    Long begun = nesting().begun.poll();
    return begun == null ? 0 : (System.nanoTime() - begun) / NANOS_PER_MICRO;
  }

  private void enter() {
    nesting().begun.push(System.nanoTime());
  }

  private boolean isOurs(PciAddress function) {
    return slot.equals(function.toString());
  }

  private boolean isOurs(Source device) {
    return slot.equals(device.parent());
  }

  @Override
  public void begins(Source device, String verb, String subject) {
    long now = System.nanoTime();
    if (isOurs(device)) {
      add(
          now,
          Layer.VERB,
          verb + " " + subject,
          fields("phase", "begin", "device", device.name(), "verb", verb, "subject", subject));
      enter();
    }
  }

  @Override
  public void ends(Source device, String verb, String result) {
    long now = System.nanoTime();
    if (isOurs(device)) {
      double micros = leave();
      add(
          now,
          Layer.VERB,
          "%s done%s, %.1f us".formatted(verb, result.isEmpty() ? "" : ": " + result, micros),
          fields(
              "phase", "end", "device", device.name(), "verb", verb, "result", result, "duration_us", micros));
    }
  }

  @Override
  public void posted(Source device, VerbsObject queue, boolean receive, MemorySegment entry) {
    long now = System.nanoTime();
    if (isOurs(device)) {
      String text =
          receive
              ? EntryText.receive(entry, !(queue instanceof QueuePair))
              : EntryText.send(entry, ((QueuePair) queue).type());
      add(
          now,
          Layer.WQE,
          queue.label() + ": " + text,
          fields("device", device.name(), "queue", queue.label(), "receive", receive, "entry", text));
    }
  }

  @Override
  public void completed(Source device, VerbsObject queue, MemorySegment entry) {
    long now = System.nanoTime();
    if (isOurs(device)) {
      String text = EntryText.completion(entry);
      add(
          now,
          Layer.CQE,
          queue.label() + ": " + text,
          fields("device", device.name(), "queue", queue.label(), "entry", text));
    }
  }

  @Override
  public void begins(String device, Opcode opcode, int modifier) {
    long now = System.nanoTime();
    if (slot.equals(device)) {
      add(
          now,
          Layer.COMMAND,
          "%s(0x%x) op_mod 0x%x".formatted(opcode.text(), opcode.number(), modifier),
          fields("phase", "begin", "opcode", opcode.text(), "number", opcode.number(), "op_mod", modifier));
      enter();
    }
  }

  @Override
  public void executed(CommandRecord command) {
    long now = System.nanoTime();
    if (slot.equals(command.device())) {
      leave();
      names.learn(command);
      double micros = command.nanos() / NANOS_PER_MICRO;
      String output = Command.of(command.opcode()).output().format(command.output(), 0);
      add(
          now,
          Layer.COMMAND,
          "%s %s, syndrome 0x%x, %.1f us%s"
              .formatted(
                  command.opcode().text(),
                  status(command.status()),
                  command.syndrome(),
                  micros,
                  command.status() == 0 && output.length() < 60 && !output.isEmpty() ? ": " + output : ""),
          fields(
              "phase", "end",
              "opcode", command.opcode().text(),
              "number", command.opcode().number(),
              "op_mod", command.modifier(),
              "status", command.status(),
              "status_text", status(command.status()),
              "syndrome", Integer.toUnsignedLong(command.syndrome()),
              "duration_us", micros,
              "input", Command.of(command.opcode()).input().format(command.input(), 0),
              "output", output));
    }
  }

  private static String status(int status) {
    if (status < 0) {
      return "without an answer";
    }
    if (status == CommandException.DRIVER_STATUS) {
      return "answered by the driver";
    }
    CommandStatus known = CommandStatus.of(status);
    return known == null ? "status 0x%x".formatted(status) : known == CommandStatus.OK ? "ok" : known.text();
  }

  @Override
  public void configWrite(PciAddress function, int offset, int width, int value) {
    long now = System.nanoTime();
    if (isOurs(function)) {
      String text = "configuration space 0x%x = 0x%x".formatted(offset, value);
      add(now, Layer.CONFIG, text, fields("offset", offset, "width", width, "value", Integer.toUnsignedLong(value)));
    }
  }

  @Override
  public void registerRead(PciAddress function, int bar, long offset, int value) {
    long now = System.nanoTime();
    if (isOurs(function)) {
      register(now, bar, offset, Integer.BYTES, false, RegisterNames.dword(offset, Integer.reverseBytes(value)));
    }
  }

  private void register(long now, int bar, long offset, int width, boolean write, String what) {
    add(
        now,
        Layer.REGISTER,
        (write ? "write " : "read ") + what,
        fields("write", write, "bar", bar, "offset", offset, "width", width, "register", what));
  }

  @Override
  public void registerWrite(PciAddress function, int bar, long offset, int width, long value) {
    long now = System.nanoTime();
    if (isOurs(function)) {
      String what =
          width == Long.BYTES
              ? RegisterNames.write(offset, Long.reverseBytes(value))
              : RegisterNames.write(offset, Integer.reverseBytes((int) value));
      register(now, bar, offset, width, true, what);
    }
  }

  @Override
  public void registerWrite(
      PciAddress function, int bar, long offset, MemorySegment source, long from, int length) {
    long now = System.nanoTime();
    if (isOurs(function)) {
      register(now, bar, offset, length, true, RegisterNames.block(offset, source, from, length));
    }
  }

  @Override
  public void dma(PciAddress function, boolean write, long address, long length) {
    long now = System.nanoTime();
    if (isOurs(function)) {
      String name = names.of(address);
      add(
          now,
          Layer.DMA,
          "card %s %d bytes at 0x%x%s".formatted(write ? "writes" : "reads", length, address, name),
          fields("write", write, "address", address, "length", length, "name", name.strip()));
    }
  }

  @Override
  public void interrupt(PciAddress function, int vector) {
    long now = System.nanoTime();
    if (isOurs(function)) {
      add(now, Layer.INTERRUPT, "vector " + vector, fields("vector", vector));
    }
  }

  @Override
  public void packet(String card, boolean sent, MemorySegment memory, long offset, int length) {
    long now = System.nanoTime();
    if (slot.equals(card)) {
      String text = PacketFormatter.format(memory, offset, length);
      add(
          now,
          Layer.PACKET,
          (sent ? "sent " : "received ") + text,
          fields("sent", sent, "length", length, "packet", text));
    }
  }
}
