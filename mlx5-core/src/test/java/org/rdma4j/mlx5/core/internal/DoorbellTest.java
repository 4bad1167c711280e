package org.rdma4j.mlx5.core.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.rdma4j.mlx5.core.BlueFlameRegister;
import org.rdma4j.mlx5.core.CommandReply;
import org.rdma4j.mlx5.core.CommandRequest;
import org.rdma4j.mlx5.core.DmaBuffer;
import org.rdma4j.mlx5.core.DoorbellRecord;
import org.rdma4j.mlx5.core.Mlx5Exception;
import org.rdma4j.mlx5.ifc.Opcode;
import org.rdma4j.pci.Bar;
import org.rdma4j.pci.DmaFault;
import org.rdma4j.pci.PciDevice;

/** Doorbells, doorbell records and memory for the card. */
class DoorbellTest {
  @Test
  void blueFlameRegistersShareTheirPages() {
    try (Bench bench = new Bench().start()) {
      List<BlueFlameRegister> registers = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        registers.add(bench.device().allocateBlueFlame(false));
        registers.add(bench.device().allocateBlueFlame(true));
      }
      assertEquals(2, registers.stream().map(each -> each.page().index()).distinct().count());
      bench.card.doorbells.clear();
      int page = registers.getFirst().page().index();
      registers.get(0).ring(0x1122334455667788L);
      registers.get(0).ring(1);
      registers.get(2).ring(2);
      registers.get(1).ring(3);
      assertEquals(
          List.of(
              "uar %d+0x800: 1122334455667788".formatted(page), "uar %d+0x900: 0000000000000001".formatted(page),
              "uar %d+0xa00: 0000000000000002".formatted(page), "uar %d+0xc00: 0000000000000003".formatted(page)),
          bench.card.doorbells);
      registers.forEach(BlueFlameRegister::close);
      registers.getFirst().close();
      assertEquals(2, bench.card.commands.stream().filter("DEALLOC_UAR 0"::equals).count());
    }
  }

  @Test
  void completionQueuesAreArmedThroughTheSharedPage() {
    try (Bench bench = new Bench().start()) {
      bench.card.doorbells.clear();
      bench.device().uar().armCompletionQueue(0x2100_0005, 0x42);
      assertEquals(
          List.of("uar %d+0x20: 2100000500000042".formatted(bench.device().uar().index())), bench.card.doorbells);
    }
  }

  @Test
  void recordsLieOnTheirOwnLines() {
    try (Bench bench = new Bench().start()) {
      Set<Long> addresses = new HashSet<>();
      List<DoorbellRecord> records = new ArrayList<>();
      for (int i = 0; i < 100; i++) {
        DoorbellRecord record = bench.device().allocateDoorbellRecord();
        assertEquals(0, record.address() % 64);
        assertEquals(0, record.segment().get(ValueLayout.JAVA_LONG, record.offset()));
        record.segment().set(ValueLayout.JAVA_LONG, record.offset(), -1);
        assertTrue(addresses.add(record.address()));
        records.add(record);
      }
      records.getFirst().close();
      DoorbellRecord again = bench.device().allocateDoorbellRecord();
      assertEquals(records.getFirst().address(), again.address());
      assertEquals(0, again.segment().get(ValueLayout.JAVA_LONG, again.offset()));
      records.forEach(DoorbellRecord::close);
      again.close();
    }
  }

  @Test
  void buffersListTheirPages() {
    try (Bench bench = new Bench().start();
        Arena arena = Arena.ofShared()) {
      MemorySegment memory = arena.allocate(3 * 4096, 4096).asSlice(100, 8192);
      try (DmaBuffer mapped = bench.device().map(memory, true);
          DmaBuffer allocated = bench.device().allocate(5000)) {
        assertEquals(3, mapped.pages());
        assertEquals(2, allocated.pages());
        assertEquals(100, mapped.address() & 0xfff);
        CommandRequest request = CommandRequest.of(Opcode.CREATE_MKEY, 3 * 8);
        mapped.listPages(request, 0, 3);
        long first = Long.reverseBytes(request.list().get(ValueLayout.JAVA_LONG_UNALIGNED, 0));
        assertEquals(mapped.address() - 100 | 3, first);
        assertNotEquals(0, allocated.address());
      }
      assertThrows(Mlx5Exception.class, () -> bench.device().map(MemorySegment.ofArray(new byte[8]), true));
    }
  }

  /** A region that swallows everything. */
  private static final class Sink implements Bar {
    private long sum;

    @Override
    public long length() {
      return 1 << 20;
    }

    @Override
    public int read(long offset) {
      return 0;
    }

    @Override
    public void write(long offset, int value) {
      sum += offset + value;
    }

    @Override
    public void write(long offset, long value) {
      sum += offset + value;
    }

    @Override
    public void write(long offset, MemorySegment source, long from, int length) {
      sum += offset + source.get(ValueLayout.JAVA_LONG, from) + length;
    }
  }

  @Test
  void takingEventsAllocatesNothing() throws DmaFault {
    try (Bench bench = new Bench().start()) {
      PciDevice pci = ((CoreDevice) bench.device()).pci();
      long[] taken = new long[1];
      EventQueue queue =
          new EventQueue(pci, "test", 64, new Uar(new Sink(), 1), (entries, offset) -> taken[0] += offset + 1);
      long[] address = new long[1];
      queue.create(
          request -> {
            address[0] = Long.reverseBytes(request.list().get(ValueLayout.JAVA_LONG_UNALIGNED, 0));
            return new CommandReply(Opcode.CREATE_EQ, Arena.ofAuto().allocate(16));
          },
          0,
          new long[4],
          false);
      MemorySegment entry = Arena.ofAuto().allocate(64, 8);
      ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
      long least = Long.MAX_VALUE;
      int produced = 0;
      for (int round = 0; round < 50; round++) {
        long allocated = 0;
        for (int i = 0; i < 200; i++, produced++) {
          entry.set(ValueLayout.JAVA_BYTE, 0x3f, (byte) (produced / 256 & 1));
          bench.card.host.write(address[0] + produced % 256 * 64L, entry, 0, 64);
          long before = threads.getCurrentThreadAllocatedBytes();
          queue.take();
          allocated += threads.getCurrentThreadAllocatedBytes() - before;
        }
        least = Math.min(least, allocated);
      }
      assertEquals(10_000, queue.taken());
      assertEquals(0, least);
      assertNotEquals(0, taken[0]);
      queue.free();
    }
  }

  @Test
  void ringingAllocatesNothing() {
    Sink sink = new Sink();
    Uar uar = new Uar(sink, 3);
    BlueFlame register = new BlueFlame(uar, 0x800, 256, () -> {});
    MemorySegment entry = Arena.ofAuto().allocate(64, 8);
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long least = Long.MAX_VALUE;
    for (int round = 0; round < 20; round++) {
      long before = threads.getCurrentThreadAllocatedBytes();
      for (int i = 0; i < 10_000; i++) {
        register.ring(i);
        register.ring(entry, 0, 64);
        uar.armCompletionQueue(i, 5);
        uar.updateEventQueue(1, i, true);
      }
      least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
    }
    assertEquals(0, least);
    assertNotEquals(0, sink.sum);
  }
}
