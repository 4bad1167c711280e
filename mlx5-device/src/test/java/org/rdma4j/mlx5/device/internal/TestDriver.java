package org.rdma4j.mlx5.device.internal;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.rdma4j.mlx5.ifc.Command;
import org.rdma4j.mlx5.ifc.CommandStatus;
import org.rdma4j.mlx5.ifc.DeliveryStatus;
import org.rdma4j.mlx5.ifc.Field;
import org.rdma4j.mlx5.ifc.Layouts;
import org.rdma4j.mlx5.ifc.Opcode;
import org.rdma4j.pci.Bar;
import org.rdma4j.pci.DmaMapping;
import org.rdma4j.pci.PciDevice;
import org.rdma4j.pci.PciDriver;
import org.rdma4j.pci.PciMatch;

/** As much of a driver as it takes to talk to the card through PCI alone. */
final class TestDriver implements PciDriver {
  static final int TOKEN = 0x5a;
  private static final ValueLayout.OfLong QWORD = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final long WAIT_NANOS = TimeUnit.SECONDS.toNanos(30);
  private static final int BLOCK_STRIDE = 1024;
  private static final int BLOCKS = 64;

  PciDevice device;
  Bar bar;
  DmaMapping queue;
  DmaMapping inputBlocks; // of entry 0, as the next
  DmaMapping outputBlocks;
  private DmaMapping otherInputBlocks; // of all others, of which one is used at a time
  private DmaMapping otherOutputBlocks;
  final List<DmaMapping> given = new ArrayList<>();
  final List<DmaMapping> mappings = new ArrayList<>();

  @Override
  public String name() {
    return "test";
  }

  @Override
  public List<PciMatch> matches() {
    return List.of(new PciMatch(0x15b3, 0x1019));
  }

  @Override
  public void probe(PciDevice probed) {
    device = probed;
    device.enable();
    device.setMaster(true);
    device.setDmaMask(64);
    bar = device.bar(0);
    queue = device.allocate(4096);
    inputBlocks = chain();
    outputBlocks = chain();
    otherInputBlocks = chain();
    otherOutputBlocks = chain();
    start();
  }

  /** Waits for the firmware and tells it where the command queue is; pages that it had are the driver's again. */
  void start() {
    given.forEach(DmaMapping::close);
    given.clear();
    queue.segment().fill((byte) 0);
    long deadline = System.nanoTime() + WAIT_NANOS;
    while ((bar.readBigEndian(0x1fc) & 1 << 31) != 0) {
      check(deadline, "the firmware does not come up");
    }
    bar.writeBigEndian(0x10, (int) (queue.address() >>> 32));
    bar.writeBigEndian(0x14, (int) queue.address());
  }

  private DmaMapping chain() {
    DmaMapping blocks = device.allocate((long) BLOCKS * BLOCK_STRIDE);
    for (int i = 0; i < BLOCKS; i++) {
      long at = (long) i * BLOCK_STRIDE;
      long next = i == BLOCKS - 1 ? 0 : blocks.address() + at + BLOCK_STRIDE;
      Layouts.CMD_MAILBOX.field("next").setLong(blocks.segment(), at, next);
      Layouts.CMD_MAILBOX.field("block_number").set(blocks.segment(), at, i);
      Layouts.CMD_MAILBOX.field("token").set(blocks.segment(), at, TOKEN);
    }
    return blocks;
  }

  private static void check(long deadline, String message) {
    if (System.nanoTime() > deadline) {
      throw new AssertionError(message);
    }
    Thread.onSpinWait();
  }

  @Override
  public void remove(PciDevice removed) {
    for (int i = 0; i < Limits.VECTORS; i++) {
      removed.freeIrq(i);
    }
    removed.freeVectors();
    removed.setMaster(false);
    mappings.forEach(DmaMapping::close);
    queue.close();
    inputBlocks.close();
    outputBlocks.close();
    otherInputBlocks.close();
    otherOutputBlocks.close();
    given.forEach(DmaMapping::close);
  }

  /** An input of a command, of its fixed length and more. */
  static MemorySegment input(Opcode opcode, int modifier, long more) {
    MemorySegment input = Arena.ofAuto().allocate(Command.of(opcode).input().size() + more, 8);
    Command.OPCODE.set(input, 0, opcode.number());
    Command.OP_MOD.set(input, 0, modifier);
    return input;
  }

  static void listed(MemorySegment input, Field list, int index, long value) {
    input.set(QWORD, list.offset() + (long) index * Long.BYTES, value);
  }

  static long listed(MemorySegment output, Field list, int index) {
    return output.get(QWORD, list.offset() + (long) index * Long.BYTES);
  }

  /** Writes an entry of the command queue, whose mailboxes are filled. */
  void write(int slot, MemorySegment input, int outputLength) {
    DmaMapping in = slot == 0 ? inputBlocks : otherInputBlocks;
    DmaMapping out = slot == 0 ? outputBlocks : otherOutputBlocks;
    MemorySegment entry = queue.segment().asSlice((long) slot * 64, 64);
    entry.fill((byte) 0);
    set(entry, "type", 7);
    set(entry, "input_length", (int) input.byteSize());
    set(entry, "output_length", outputLength);
    set(entry, "token", TOKEN);
    MemorySegment.copy(input, 0, entry, 0x10, Math.min(16, input.byteSize()));
    for (long done = 16, at = 0; done < input.byteSize(); done += 512, at += BLOCK_STRIDE) {
      MemorySegment.copy(input, done, in.segment(), at, Math.min(512, input.byteSize() - done));
    }
    Layouts.CMD_QUEUE_ENTRY.field("input_mailbox").setLong(entry, 0, in.address());
    Layouts.CMD_QUEUE_ENTRY.field("output_mailbox").setLong(entry, 0, out.address());
    set(entry, "ownership", 1);
  }

  void set(int slot, String field, int value) {
    set(queue.segment().asSlice((long) slot * 64, 64), field, value);
  }

  private static void set(MemorySegment entry, String field, int value) {
    Layouts.CMD_QUEUE_ENTRY.field(field).set(entry, 0, value);
  }

  DeliveryStatus ring(int slot) {
    bar.writeBigEndian(0x18, 1 << slot);
    MemorySegment entry = queue.segment().asSlice((long) slot * 64, 64);
    long deadline = System.nanoTime() + WAIT_NANOS;
    while ((entry.get(ValueLayout.JAVA_BYTE, 0x3f) & 1) != 0) {
      check(deadline, "the command does not complete");
    }
    return DeliveryStatus.of(Layouts.CMD_QUEUE_ENTRY.field("delivery_status").get(entry, 0));
  }

  MemorySegment output(int slot, int length) {
    MemorySegment output = Arena.ofAuto().allocate(Math.max(16, length), 8);
    MemorySegment.copy(queue.segment(), (long) slot * 64 + 0x20, output, 0, 16);
    for (long done = 16, at = 0; done < length; done += 512, at += BLOCK_STRIDE) {
      DmaMapping blocks = slot == 0 ? outputBlocks : otherOutputBlocks;
      MemorySegment.copy(blocks.segment(), at, output, done, Math.min(512, length - done));
    }
    return output;
  }

  /** Gives a command and takes its output. */
  MemorySegment execute(MemorySegment input, long more) {
    Opcode opcode = Opcode.of(Command.OPCODE.get(input, 0));
    int length = (int) (Command.of(opcode).output().size() + more);
    write(0, input, length);
    DeliveryStatus status = ring(0);
    if (status != DeliveryStatus.OK) {
      throw new AssertionError(opcode + ": " + status);
    }
    return output(0, length);
  }

  CommandStatus status(MemorySegment input) {
    return CommandStatus.of(Command.STATUS.get(execute(input, 0), 0));
  }

  /** Gives a command that must succeed. */
  MemorySegment succeed(MemorySegment input, long more) {
    MemorySegment output = execute(input, more);
    if (Command.STATUS.get(output, 0) != 0) {
      throw new AssertionError(
          Opcode.of(Command.OPCODE.get(input, 0)) + ": " + CommandStatus.of(Command.STATUS.get(output, 0))
              + ", syndrome " + Command.SYNDROME.get(output, 0));
    }
    return output;
  }

  int wantedPages(int modifier) {
    return Command.out(Opcode.QUERY_PAGES, "num_pages")
        .get(succeed(input(Opcode.QUERY_PAGES, modifier, 0), 0), 0);
  }

  void givePages(int count) {
    MemorySegment input = input(Opcode.MANAGE_PAGES, 1, (long) count * Long.BYTES);
    Command.in(Opcode.MANAGE_PAGES, "input_num_entries").set(input, 0, count);
    for (int i = 0; i < count; i++) {
      DmaMapping page = device.allocate(4096);
      given.add(page);
      listed(input, Command.in(Opcode.MANAGE_PAGES, "pas"), i, page.address());
    }
    succeed(input, 0);
  }

  /** From power-on to INIT_HCA, as the reference has it. */
  void bringUp() {
    succeed(input(Opcode.ENABLE_HCA, 0, 0), 0);
    MemorySegment issi = input(Opcode.SET_ISSI, 0, 0);
    Command.in(Opcode.SET_ISSI, "current_issi").set(issi, 0, 1);
    succeed(issi, 0);
    givePages(wantedPages(1));
    givePages(wantedPages(2));
    succeed(input(Opcode.INIT_HCA, 0, 0), 0);
  }

  int allocateUar() {
    return Command.out(Opcode.ALLOC_UAR, "uar").get(succeed(input(Opcode.ALLOC_UAR, 0, 0), 0), 0);
  }
}
