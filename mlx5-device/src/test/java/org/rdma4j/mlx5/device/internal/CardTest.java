package org.rdma4j.mlx5.device.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.rdma4j.mlx5.device.internal.TestDriver.input;
import static org.rdma4j.mlx5.device.internal.TestDriver.listed;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.rdma4j.mlx5.ifc.Command;
import org.rdma4j.mlx5.ifc.CommandStatus;
import org.rdma4j.mlx5.ifc.DeliveryStatus;
import org.rdma4j.mlx5.ifc.Field;
import org.rdma4j.mlx5.ifc.Layouts;
import org.rdma4j.mlx5.ifc.Opcode;
import org.rdma4j.pci.DmaMapping;
import org.rdma4j.pci.standalone.StandaloneBus;
import org.rdma4j.roce.link.Clock;
import org.rdma4j.roce.link.Fabric;

/** The card, register by register and command by command, through PCI alone. */
class CardTest {
  private final StandaloneBus bus = new StandaloneBus();
  private final TestDriver driver = new TestDriver();

  @BeforeEach
  void plug() {
    bus.add(driver);
    bus.plug(TestCards.card("fw", new Fabric(1, Clock.SYSTEM)), null);
  }

  @AfterEach
  void close() {
    bus.close();
  }

  @Test
  void theInitializationSegmentTellsWhatItIs() {
    assertEquals(5, driver.bar.readBigEndian(4) >>> 16);
    assertEquals(16, driver.bar.readBigEndian(0) & 0xffff);
    assertEquals(0x56, driver.bar.readBigEndian(0x14) & 0xff, "32 entries of 64 bytes");
    assertNotEquals(-1, driver.bar.readBigEndian(0x230));
    assertNotEquals(driver.bar.readBigEndian(0x1004), driver.bar.readBigEndian(0x1004), "the timer runs");
  }

  @Test
  void itComesUpAndGoesDownInOrder() {
    driver.bringUp();
    assertEquals(CommandStatus.BAD_SYSTEM_STATE, driver.status(input(Opcode.INIT_HCA, 0, 0)));
    driver.succeed(input(Opcode.TEARDOWN_HCA, 0, 0), 0);
    assertEquals(CommandStatus.RESOURCE_BUSY, driver.status(input(Opcode.DISABLE_HCA, 0, 0)), "pages are out");
    Set<Long> back = new HashSet<>();
    for (int got = -1; got != 0; ) {
      MemorySegment take = input(Opcode.MANAGE_PAGES, 2, 0);
      Command.in(Opcode.MANAGE_PAGES, "input_num_entries").set(take, 0, 100);
      MemorySegment output = driver.succeed(take, 100 * Long.BYTES);
      got = Command.out(Opcode.MANAGE_PAGES, "output_num_entries").get(output, 0);
      for (int i = 0; i < got; i++) {
        assertTrue(back.add(listed(output, Command.out(Opcode.MANAGE_PAGES, "pas"), i)));
      }
    }
    Set<Long> given = new HashSet<>();
    driver.given.forEach(page -> given.add(page.address()));
    assertEquals(given, back, "every page comes back");
    driver.succeed(input(Opcode.DISABLE_HCA, 0, 0), 0);
    assertEquals(CommandStatus.BAD_SYSTEM_STATE, driver.status(input(Opcode.QUERY_ISSI, 0, 0)));
  }

  @Test
  void commandsHaveTheirTime() {
    assertEquals(CommandStatus.BAD_SYSTEM_STATE, driver.status(input(Opcode.QUERY_ISSI, 0, 0)));
    driver.succeed(input(Opcode.ENABLE_HCA, 0, 0), 0);
    assertEquals(CommandStatus.BAD_SYSTEM_STATE, driver.status(input(Opcode.ENABLE_HCA, 0, 0)));
    assertEquals(CommandStatus.BAD_SYSTEM_STATE, driver.status(input(Opcode.ALLOC_PD, 0, 0)));
    assertEquals(CommandStatus.BAD_SYSTEM_STATE, driver.status(input(Opcode.INIT_HCA, 0, 0)), "pages are missing");
  }

  @Test
  void whatIsNotModelledIsABadOperation() {
    assertEquals(CommandStatus.BAD_OPERATION, driver.status(input(Opcode.CREATE_FLOW_TABLE, 0, 0)));
    MemorySegment input = input(Opcode.ENABLE_HCA, 0, 0);
    Command.OPCODE.set(input, 0, 0xfff);
    driver.write(0, input, 16);
    assertEquals(DeliveryStatus.OK, driver.ring(0));
    assertEquals(CommandStatus.BAD_OPERATION.number(), Command.STATUS.get(driver.output(0, 16), 0));
  }

  @Test
  void shortInputsAndOutputsAreRefused() {
    driver.bringUp();
    MemorySegment input = input(Opcode.CREATE_EQ, 0, 0);
    driver.write(0, input.asSlice(0, 200), 16);
    driver.ring(0);
    assertEquals(CommandStatus.BAD_INPUT_LENGTH.number(), Command.STATUS.get(driver.output(0, 16), 0));
    driver.write(0, input(Opcode.QUERY_HCA_CAP, 1, 0), 1024);
    driver.ring(0);
    assertEquals(CommandStatus.BAD_OUTPUT_LENGTH.number(), Command.STATUS.get(driver.output(0, 16), 0));
  }

  @Test
  void whatCannotBeDeliveredSaysWhy() {
    MemorySegment caps = input(Opcode.SET_HCA_CAP, 0, 0);
    driver.write(0, caps, 16);
    driver.set(0, "type", 3);
    assertEquals(DeliveryStatus.DESCRIPTOR_TYPE, driver.ring(0));
    driver.write(0, caps, 16);
    driver.set(0, "input_length", 4);
    assertEquals(DeliveryStatus.INPUT_LENGTH, driver.ring(0));
    driver.write(0, caps, 16);
    driver.set(0, "output_length", 0);
    assertEquals(DeliveryStatus.OUTPUT_LENGTH, driver.ring(0));
    driver.write(0, caps, 16);
    driver.set(0, "token", TestDriver.TOKEN + 1);
    assertEquals(DeliveryStatus.TOKEN, driver.ring(0));
    driver.write(0, caps, 16);
    Layouts.CMD_QUEUE_ENTRY.field("input_mailbox").setLong(driver.queue.segment(), 0, 8);
    assertEquals(DeliveryStatus.INPUT_POINTER, driver.ring(0));
    driver.write(0, caps, 4112);
    Layouts.CMD_QUEUE_ENTRY.field("output_mailbox").setLong(driver.queue.segment(), 0, 0);
    assertEquals(DeliveryStatus.OUTPUT_POINTER, driver.ring(0));
    driver.write(0, caps, 16);
    Layouts.CMD_MAILBOX.field("block_number").set(driver.inputBlocks.segment(), 1024, 7);
    assertEquals(DeliveryStatus.BLOCK_NUMBER, driver.ring(0));
  }

  @Test
  void capabilitiesCanBeLoweredBeforeInitAndNeverRaised() {
    driver.succeed(input(Opcode.ENABLE_HCA, 0, 0), 0);
    Field page = Command.out(Opcode.QUERY_HCA_CAP, "capability");
    MemorySegment current = driver.succeed(input(Opcode.QUERY_HCA_CAP, 1, 0), 0);
    Field qps = Layouts.HCA_CAP.field("log_max_qp");
    assertEquals(Limits.LOG_MAX_QP, qps.get(current, page.offset()));
    MemorySegment set = input(Opcode.SET_HCA_CAP, 0, 0);
    MemorySegment.copy(current, page.offset(), set, 0x10, Capabilities.PAGE);
    qps.set(set, 0x10, 10);
    driver.succeed(set, 0);
    assertEquals(10, qps.get(driver.succeed(input(Opcode.QUERY_HCA_CAP, 1, 0), 0), page.offset()));
    assertEquals(
        Limits.LOG_MAX_QP,
        qps.get(driver.succeed(input(Opcode.QUERY_HCA_CAP, 0, 0), 0), page.offset()),
        "the maximum stays");
    qps.set(set, 0x10, Limits.LOG_MAX_QP + 1);
    assertEquals(CommandStatus.BAD_PARAMETER, driver.status(set));
    assertEquals(CommandStatus.BAD_PARAMETER, driver.status(input(Opcode.QUERY_HCA_CAP, 0x1f << 1, 0)));
  }

  @Test
  void pagesAreTakenAllOrNone() {
    driver.succeed(input(Opcode.ENABLE_HCA, 0, 0), 0);
    Field list = Command.in(Opcode.MANAGE_PAGES, "pas");
    DmaMapping page = driver.device.allocate(4096);
    MemorySegment give = input(Opcode.MANAGE_PAGES, 1, 16);
    Command.in(Opcode.MANAGE_PAGES, "input_num_entries").set(give, 0, 2);
    listed(give, list, 0, page.address());
    for (long bad : new long[] {0, page.address(), page.address() + 8, 0x7000_0000_0000L}) {
      listed(give, list, 1, bad);
      assertEquals(CommandStatus.BAD_PARAMETER, driver.status(give), "0x" + Long.toHexString(bad));
    }
    assertEquals(Limits.BOOT_PAGES, driver.wantedPages(1), "nothing was taken");
    page.close();
  }

  @Test
  void eventsReachTheDriver() throws Exception {
    driver.bringUp();
    int uar = driver.allocateUar();
    DmaMapping buffer = driver.device.allocate(64 * 64);
    for (int i = 0; i < 64; i++) {
      Layouts.EQE.field("owner").set(buffer.segment(), i * 64L, 1);
    }
    MemorySegment create = input(Opcode.CREATE_EQ, 0, 8);
    long context = Command.in(Opcode.CREATE_EQ, "eq_context_entry").offset();
    Layouts.EQC.field("log_eq_size").set(create, context, 6);
    Layouts.EQC.field("uar_page").set(create, context, uar);
    Layouts.EQC.field("intr").set(create, context, 3);
    create.set(
        ValueLayout.JAVA_LONG_UNALIGNED.withOrder(java.nio.ByteOrder.BIG_ENDIAN),
        Command.in(Opcode.CREATE_EQ, "event_bitmask").offset(),
        1L << 0x0a);
    listed(create, Command.in(Opcode.CREATE_EQ, "pas"), 0, buffer.address());
    var interrupts = new Semaphore(0);
    driver.device.allocateVectors(4, 4);
    driver.device.requestIrq(3, "cmd", vector -> interrupts.release());
    int number = Command.out(Opcode.CREATE_EQ, "eq_number").get(driver.succeed(create, 0), 0);
    driver.bar.writeBigEndian(uar * 4096L + 0x40, number << 24);
    assertEquals(1, Layouts.EQE.field("owner").get(buffer.segment(), 0), "it does not hear of its own creation");
    driver.succeed(input(Opcode.ALLOC_PD, 0, 0), 0);
    assertTrue(interrupts.tryAcquire(30, TimeUnit.SECONDS), "a command is done");
    assertEquals(0x0a, Layouts.EQE.field("event_type").get(buffer.segment(), 0));
    assertEquals(0, Layouts.EQE.field("owner").get(buffer.segment(), 0));
    assertEquals(1, Layouts.EQE.field("command_vector").get(buffer.segment(), 0));
    driver.bar.writeBigEndian(uar * 4096L + 0x40, number << 24 | 1);
    driver.succeed(input(Opcode.ALLOC_PD, 0, 0), 0);
    assertTrue(interrupts.tryAcquire(30, TimeUnit.SECONDS), "armed again");
    MemorySegment destroy = input(Opcode.DESTROY_EQ, 0, 0);
    Command.in(Opcode.DESTROY_EQ, "eq_number").set(destroy, 0, number);
    driver.succeed(destroy, 0);
    assertEquals(CommandStatus.BAD_RESOURCE, driver.status(destroy));
    buffer.close();
  }

  @Test
  void anyInputGetsAStatus() {
    for (Opcode opcode : Opcode.values()) {
      driver.succeed(input(Opcode.ENABLE_HCA, 0, 0), 0);
      driver.givePages(driver.wantedPages(2));
      driver.succeed(input(Opcode.INIT_HCA, 0, 0), 0);
      Random random = new Random(opcode.number());
      for (int i = 0; i < 8; i++) {
        MemorySegment input = Arena.ofAuto().allocate(8 + random.nextInt(1000), 8);
        for (long at = 0; at < input.byteSize(); at++) {
          input.set(ValueLayout.JAVA_BYTE, at, (byte) random.nextInt());
        }
        Command.OPCODE.set(input, 0, opcode.number());
        driver.write(0, input, 16 + random.nextInt(1000));
        assertEquals(DeliveryStatus.OK, driver.ring(0), opcode.text());
      }
      driver.write(0, input(Opcode.QUERY_ISSI, 0, 0), 112);
      assertEquals(DeliveryStatus.OK, driver.ring(0), "it still answers");
      driver.device.reset();
      driver.start();
    }
  }

  @Test
  void theHealthCounterMoves() {
    int before = driver.bar.readBigEndian(0x1010);
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
    while (driver.bar.readBigEndian(0x1010) == before) {
      assertTrue(System.nanoTime() < deadline);
      Thread.onSpinWait();
    }
  }
}
