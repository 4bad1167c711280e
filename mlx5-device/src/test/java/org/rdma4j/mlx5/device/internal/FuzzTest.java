package org.rdma4j.mlx5.device.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.rdma4j.mlx5.device.internal.TestDriver.input;
import static org.rdma4j.mlx5.device.internal.TestDriver.listed;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rdma4j.mlx5.device.internal.TestUser.Cq;
import org.rdma4j.mlx5.device.internal.TestUser.Qp;
import org.rdma4j.mlx5.ifc.Command;
import org.rdma4j.mlx5.ifc.CommandStatus;
import org.rdma4j.mlx5.ifc.DeliveryStatus;
import org.rdma4j.mlx5.ifc.Field;
import org.rdma4j.mlx5.ifc.Layouts;
import org.rdma4j.mlx5.ifc.Opcode;
import org.rdma4j.pci.DmaMapping;
import org.rdma4j.pci.standalone.StandaloneBus;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.link.Clock;
import org.rdma4j.roce.link.Fabric;

/**
 * Contexts, work queue entries and doorbells that no driver would write, from seeds that repeat them: there is always a
 * status, a completion or an event, never an exception, and never a byte outside of what the keys name.
 */
class FuzzTest {
  private static final Gid ADDRESS = Gid.parse("::ffff:192.0.2.1");
  private static final int PAGE = 4096;
  private static final byte CANARY = 0x5c;

  private final StandaloneBus bus = new StandaloneBus();
  private final TestDriver driver = new TestDriver();
  private final Card card = TestCards.card("fuzz", new Fabric(1, Clock.SYSTEM));
  private TestUser user;
  private DmaMapping canary;

  @BeforeEach
  void plug() {
    bus.add(driver);
    bus.plug(card, null);
    user = new TestUser(driver);
    user.roceAddress(0, ADDRESS);
    canary = user.allocate(16 * PAGE);
    canary.segment().fill(CANARY);
  }

  @AfterEach
  void close() {
    assertEquals(0, card.engineFaults(), "exceptions in the engine");
    for (long i = 0; i < canary.length(); i++) {
      assertEquals(CANARY, canary.segment().get(ValueLayout.JAVA_BYTE, i), "memory that no key names");
    }
    driver.write(0, input(Opcode.QUERY_ISSI, 0, 0), 112);
    assertEquals(DeliveryStatus.OK, driver.ring(0), "it still answers");
    bus.close();
  }

  private static void flipBits(MemorySegment memory, long from, long length, Random random) {
    for (int flips = 1 + random.nextInt(6); flips > 0; flips--) {
      long at = from + random.nextLong(length);
      byte before = memory.get(ValueLayout.JAVA_BYTE, at);
      memory.set(ValueLayout.JAVA_BYTE, at, (byte) (before ^ 1 << random.nextInt(8)));
    }
  }

  /** Contexts that are almost right: each gets a status, and what was made can be ended. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void contextsWithWrongBitsGetAStatus(long seed) {
    Random random = new Random(seed);
    Cq queue = user.new Cq(4, 64);
    Qp qp = user.new Qp(TestUser.RC, queue, queue, 0, 0, false);
    qp.init();
    DmaMapping pages = user.allocate(16L * PAGE);
    for (int i = 0; i < 300; i++) {
      Opcode opcode =
          List.of(
                  Opcode.CREATE_CQ,
                  Opcode.CREATE_QP,
                  Opcode.CREATE_MKEY,
                  Opcode.CREATE_RMP,
                  Opcode.CREATE_EQ,
                  Opcode.INIT2RTR_QP,
                  Opcode.MODIFY_CQ,
                  Opcode.SET_ROCE_ADDRESS)
              .get(random.nextInt(8));
      MemorySegment command = input(opcode, 0, 64);
      fill(command, opcode, queue, qp);
      for (int page = 0; page < 8 && opcode.name().startsWith("CREATE"); page++) {
        command.set(TestUser.QWORD, 0x110 + page * 8L, pages.address() + (long) page * PAGE);
      }
      flipBits(command, 8, command.byteSize() - 8, random);
      driver.write(0, command, (int) Command.of(opcode).output().size());
      assertEquals(DeliveryStatus.OK, driver.ring(0));
      MemorySegment output = driver.output(0, 16);
      assertNotNull(CommandStatus.of(Command.STATUS.get(output, 0)), "seed " + seed + ", step " + i);
      if (Command.STATUS.get(output, 0) == 0) {
        end(opcode, output);
      }
    }
  }

  private void fill(MemorySegment command, Opcode opcode, Cq queue, Qp qp) {
    switch (opcode) {
      case CREATE_CQ -> fields(command, opcode, "cq_context", "log_cq_size", 4, "uar_page", user.uar,
          "c_eqn_or_apu_element", user.eqn);
      case CREATE_QP -> fields(command, opcode, "qpc", "pd", user.pd, "uar_page", user.uar, "log_sq_size", 4,
          "log_rq_size", 2, "log_rq_stride", 2, "cqn_snd", queue.number, "cqn_rcv", queue.number);
      case CREATE_MKEY -> fields(command, opcode, "memory_key_mkey_entry", "pd", user.pd, "access_mode_1_0", 1,
          "lw", 1, "lr", 1, "log_page_size", 12, "translations_octword_size", 4);
      case CREATE_RMP -> {
        fields(command, opcode, "ctx", "state", 1);
        TestUser.set(Layouts.WQ, command, 0x50, "pd", user.pd);
        TestUser.set(Layouts.WQ, command, 0x50, "log_wq_stride", 6);
        TestUser.set(Layouts.WQ, command, 0x50, "log_wq_sz", 3);
      }
      case CREATE_EQ -> fields(command, opcode, "eq_context_entry", "log_eq_size", 5, "uar_page", user.uar);
      case INIT2RTR_QP -> {
        Command.in(opcode, "qpn").set(command, 0, qp.number);
        fields(command, opcode, "qpc", "mtu", 3, "remote_qpn", qp.number);
      }
      case MODIFY_CQ -> Command.in(opcode, "cqn").set(command, 0, queue.number);
      default -> ADDRESS.writeTo(command, 0x10);
    }
  }

  private static void fields(MemorySegment command, Opcode opcode, String context, Object... namesAndValues) {
    Field field = Command.in(opcode, context);
    for (int i = 0; i < namesAndValues.length; i += 2) {
      field
          .inner()
          .field((String) namesAndValues[i])
          .set(command, field.offset(), (Integer) namesAndValues[i + 1]);
    }
  }

  private void end(Opcode opcode, MemorySegment output) {
    Opcode destroy =
        switch (opcode) {
          case CREATE_CQ -> Opcode.DESTROY_CQ;
          case CREATE_QP -> Opcode.DESTROY_QP;
          case CREATE_MKEY -> Opcode.DESTROY_MKEY;
          case CREATE_RMP -> Opcode.DESTROY_RMP;
          case CREATE_EQ -> Opcode.DESTROY_EQ;
          default -> null;
        };
    if (destroy != null) {
      MemorySegment command = input(destroy, 0, 0);
      command.set(TestUser.DWORD, 8, output.get(TestUser.DWORD, 8));
      driver.succeed(command, 0);
    }
  }

  /** Entries of random bytes, and such that are almost right: the queue pair works or ends, the card lives. */
  @ParameterizedTest
  @ValueSource(longs = {11, 12, 13, 14})
  void workQueueEntriesOfAnyKindEndSomehow(long seed) {
    Random random = new Random(seed);
    DmaMapping memory = user.allocate(8 * PAGE);
    int key = user.pagedKey(memory, 0x10000, 8 * PAGE, false);
    int service = List.of(TestUser.RC, TestUser.UD, TestUser.UC, TestUser.RC).get((int) seed % 4);
    for (int round = 0; round < 30; round++) {
      Cq sends = user.new Cq(7, 64);
      Qp one = user.new Qp(service, sends, sends, 0, 0, false);
      one.init();
      one.ready(one.number, 0, ADDRESS);
      for (int i = 0; i < 6; i++) {
        one.receive(0x10000 + random.nextInt(8 * PAGE), random.nextInt(PAGE), key);
        TestUser.Wr wr = new TestUser.Wr(opcode(random));
        if (service == TestUser.UD) {
          wr.datagram(one.number, 0x1234, random.nextInt(3), ADDRESS);
        }
        wr.remote(0x10000 + random.nextInt(9 * PAGE), key)
            .data(0x10000 + random.nextInt(9 * PAGE), random.nextInt(2 * PAGE), random.nextBoolean() ? key : key + 1)
            .octoword(random.nextLong(), random.nextLong());
        for (int at = wr.length; at < 192; at++) {
          wr.memory.set(ValueLayout.JAVA_BYTE, at, (byte) random.nextInt());
        }
        wr.length = 16 * (1 + random.nextInt(12));
        one.write(wr.memory, wr.length);
        long place = (long) (random.nextInt(64)) * 64;
        if (random.nextInt(3) == 0) {
          flipBits(one.buffer.segment(), TestUser.STRIDE * 16L + place % 2048, 64, random);
        }
      }
      if (random.nextInt(8) == 0) {
        one.sent += random.nextInt(200); // More than there is room for.
      }
      MemorySegment doorbell = MemorySegment.ofArray(new byte[8]);
      doorbell.set(TestUser.DWORD, 4, one.number << 8);
      one.ring(doorbell);
      // Whatever became of it: in error everything is flushed, and the queue pair can be used again.
      driver.succeed(one.command(Opcode.TO_ERR_QP), 0);
      assertEquals(6, one.state());
      drain(sends);
      driver.succeed(one.command(Opcode.TO_RST_QP), 0);
      assertEquals(0, one.state());
      driver.succeed(one.command(Opcode.DESTROY_QP), 0);
    }
  }

  /** Changes of memory keys that are almost right, by a consumer and by the driver's own queue pair. */
  @ParameterizedTest
  @ValueSource(longs = {31, 32, 33, 34})
  void changesOfMemoryKeysEndSomehow(long seed) {
    Random random = new Random(seed);
    DmaMapping memory = user.allocate(8 * PAGE);
    int[] keys = {
      user.pagedKey(memory, 0x10000, 8 * PAGE, false),
      user.pagedKey(memory, 0x10000, 8 * PAGE, true),
      user.rangesKey(),
      user.rangesKey(),
      user.physicalKey(),
      0
    };
    int service = seed % 2 == 0 ? TestUser.RC : TestUser.REG_UMR;
    for (int round = 0; round < 60; round++) {
      Cq sends = user.new Cq(7, 64);
      Qp one = user.new Qp(service, sends, sends, 0, 0, false);
      one.init();
      one.ready(one.number, 0, ADDRESS);
      for (int i = 0; i < 6; i++) {
        int key = keys[random.nextInt(keys.length)] ^ (random.nextInt(4) == 0 ? random.nextInt(256) : 0);
        long mask = random.nextLong() & 0x6fe_6183L | (random.nextInt(6) == 0 ? 1L << random.nextInt(64) : 0);
        TestUser.Wr wr =
            new TestUser.Wr(0x25)
                .immediate(key)
                .umr(random.nextInt(4), mask | 1 << 29, random.nextInt(9), random.nextBoolean())
                .key("free", random.nextInt(2))
                .key("mkey_7_0", random.nextBoolean() ? key & 0xff : random.nextInt(256))
                .key("qpn", random.nextBoolean() ? one.number : 0xff_ffff)
                .key("pd", user.pd)
                .key("rw", random.nextInt(2))
                .key("log_page_size", random.nextBoolean() ? 12 : random.nextInt(32))
                .key("start_addr", 0x10000L + random.nextInt(PAGE))
                .key("len", random.nextBoolean() ? random.nextInt(8 * PAGE) : random.nextLong());
        for (int list = random.nextInt(5); list > 0; list--) {
          long range = (long) random.nextInt(PAGE) << 32 | keys[random.nextInt(keys.length)] & 0xffff_ffffL;
          wr.octoword(range, 0x10000 + random.nextInt(9 * PAGE));
        }
        if (random.nextInt(8) == 0) {
          wr.length = 16 * (1 + random.nextInt(12));
        }
        one.write(wr.memory, wr.length);
      }
      MemorySegment doorbell = MemorySegment.ofArray(new byte[8]);
      doorbell.set(TestUser.DWORD, 4, one.number << 8);
      one.ring(doorbell);
      driver.succeed(one.command(Opcode.TO_ERR_QP), 0);
      drain(sends);
      driver.succeed(one.command(Opcode.DESTROY_QP), 0);
    }
    for (int key : keys) {
      MemorySegment destroy = input(Opcode.DESTROY_MKEY, 0, 0);
      Command.in(Opcode.DESTROY_MKEY, "mkey_index").set(destroy, 0, key >>> 8);
      driver.execute(destroy, 0);
    }
  }

  private static int opcode(Random random) {
    int[] likely = {0, 1, 8, 9, 0xa, 0xb, 0x10, 0x11, 0x12, 0x25};
    return random.nextInt(4) == 0 ? random.nextInt(256) : likely[random.nextInt(likely.length)];
  }

  private static void drain(Cq queue) {
    for (MemorySegment cqe = queue.poll(); cqe != null; cqe = queue.poll()) {
      int opcode = TestUser.opcode(cqe);
      assertTrue(opcode <= 4 || opcode == 13 || opcode == 14, "opcode " + opcode);
    }
  }

  /** Doorbells of objects that are not there, or at places where there is none. */
  @Test
  void doorbellsAnywhereDoNothing() {
    Random random = new Random(21);
    Cq queue = user.new Cq(4, 64);
    MemorySegment block = user.allocate(256).segment();
    for (int i = 0; i < 3000; i++) {
      long page = random.nextBoolean() ? user.uar : random.nextInt(Limits.UARS);
      long at = page * PAGE + (random.nextInt(PAGE) & ~7);
      if (at >= 0x4000 && at < 0x6000) {
        continue; // The MSI-X table, which is the bus's.
      }
      switch (random.nextInt(3)) {
        case 0 -> driver.bar.write(Math.max(at, 0x6000), random.nextInt());
        case 1 -> driver.bar.write(Math.max(at, 0x6000), random.nextLong());
        default -> {
          long place = Math.min(Math.max(at, 0x6000), driver.bar.length() - 128);
          driver.bar.write(place, block, 0, 64);
        }
      }
      driver.bar.read(at);
    }
    assertEquals(0, queue.buffer.segment().get(ValueLayout.JAVA_BYTE, 0));
  }

  /** Records and lists that point to memory which is not the card's. */
  @Test
  void pointersToNowhereAreFaultsOfTheQueue() {
    Cq queue = user.new Cq(4, 64);
    Qp qp = user.new Qp(TestUser.RC, queue, queue, 0, 0, false);
    qp.init();
    qp.ready(qp.number, 0, ADDRESS);
    qp.buffer.close();
    driver.mappings.remove(qp.buffer);
    qp.record.segment().set(TestUser.DWORD, 4, 1);
    MemorySegment doorbell = MemorySegment.ofArray(new byte[8]);
    doorbell.set(TestUser.DWORD, 4, qp.number << 8);
    driver.bar.writeBigEndian(user.uar * 4096L + 0x800, doorbell.get(TestUser.QWORD, 0));
    user.awaitEvent(5, qp.number);
    assertEquals(6, qp.state());
    MemorySegment create = input(Opcode.CREATE_CQ, 0, 8);
    fill(create, Opcode.CREATE_CQ, queue, qp);
    listed(create, Command.in(Opcode.CREATE_CQ, "pas"), 0, 0x7777_0000_0000L);
    driver.succeed(create, 0);
  }
}
