package org.rdma4j.mlx5.device.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.rdma4j.mlx5.device.internal.TestDriver.input;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.rdma4j.mlx5.device.internal.TestUser.Cq;
import org.rdma4j.mlx5.device.internal.TestUser.Qp;
import org.rdma4j.mlx5.device.internal.TestUser.Wr;
import org.rdma4j.mlx5.ifc.Command;
import org.rdma4j.mlx5.ifc.CommandStatus;
import org.rdma4j.mlx5.ifc.Layouts;
import org.rdma4j.mlx5.ifc.Opcode;
import org.rdma4j.pci.DmaMapping;
import org.rdma4j.pci.standalone.StandaloneBus;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.link.Clock;
import org.rdma4j.roce.link.Fabric;

/** Each fault that can be injected: what the driver sees, and how the card comes back. */
class FaultsTest {
  private static final Gid ADDRESS = Gid.parse("::ffff:192.0.2.1");
  private static final int SEND = 0x0a;
  private static final int HEALTH_SYNDROME = 0x23c;
  private static final int HEALTH_COUNTER = 0x1010;
  private static final int RESET_REQUEST = 0x238;

  private final StandaloneBus bus = new StandaloneBus();
  private final TestDriver driver = new TestDriver();
  private final Card card = TestCards.card("faults", new Fabric(1, Clock.SYSTEM));

  @BeforeEach
  void plug() {
    bus.add(driver);
    bus.plug(card, null);
  }

  @AfterEach
  void close() {
    bus.close();
  }

  private static void await(BooleanSupplier condition, String what) {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
    while (!condition.getAsBoolean()) {
      assertTrue(System.nanoTime() < deadline, what);
      Thread.onSpinWait();
    }
  }

  private boolean isOwnedByCard(int slot) {
    return (driver.queue.segment().get(ValueLayout.JAVA_BYTE, slot * 64L + 0x3f) & 1) != 0;
  }

  @Test
  void aDroppedCommandIsNeverAnswered() {
    card.faults().dropCommands(1);
    driver.write(3, input(Opcode.ENABLE_HCA, 0, 0), 16);
    driver.bar.writeBigEndian(0x18, 1 << 3);
    for (int i = 0; i < 3; i++) { // It counts once before each look at the doorbells.
      int before = driver.bar.readBigEndian(HEALTH_COUNTER);
      await(() -> driver.bar.readBigEndian(HEALTH_COUNTER) != before, "the health counter moves");
    }
    driver.succeed(input(Opcode.ENABLE_HCA, 0, 0), 0);
    assertTrue(isOwnedByCard(3));
  }

  @Test
  void aCommandFailsByItsOpcode() {
    driver.bringUp();
    card.faults().failCommands(Opcode.ALLOC_PD.number(), CommandStatus.NO_RESOURCES.number(), 1);
    driver.allocateUar();
    assertEquals(CommandStatus.NO_RESOURCES, driver.status(input(Opcode.ALLOC_PD, 0, 0)));
    assertEquals(CommandStatus.OK, driver.status(input(Opcode.ALLOC_PD, 0, 0)));
    assertThrows(IllegalArgumentException.class, () -> card.faults().failCommands(-1, 0, 1));
    assertThrows(IllegalArgumentException.class, () -> card.faults().dropCommands(-1));
  }

  @Test
  void theHealthCounterStandsUntilItMayGo() {
    card.faults().stopHealthCounter(true);
    // What was counted before this read is over when the next command is answered.
    driver.succeed(input(Opcode.ENABLE_HCA, 0, 0), 0);
    driver.succeed(input(Opcode.QUERY_ISSI, 0, 0), 0);
    int stands = driver.bar.readBigEndian(HEALTH_COUNTER);
    driver.succeed(input(Opcode.QUERY_ISSI, 0, 0), 0);
    assertEquals(stands, driver.bar.readBigEndian(HEALTH_COUNTER));
    card.faults().clear();
    await(() -> driver.bar.readBigEndian(HEALTH_COUNTER) != stands, "it moves again");
  }

  @Test
  void anAssertFillsTheHealthBufferAndEndsWithAReset() {
    for (int i = 0; i < 50; i++) {
      TestUser user = new TestUser(driver);
      user.roceAddress(0, ADDRESS);
      new Traffic(user).exchange();
      card.faults().assertFatal(1);
      assertEquals(1, driver.bar.readBigEndian(HEALTH_SYNDROME) >>> 16 & 0xff);
      assertTrue(driver.bar.readBigEndian(RESET_REQUEST) < 0, "a reset is asked for");
      driver.write(2, input(Opcode.QUERY_ISSI, 0, 0), 112);
      driver.bar.writeBigEndian(0x18, 1 << 2);
      if (i % 2 == 0) {
        driver.device.reset();
      } else {
        driver.bar.writeBigEndian(0x14, 7 << 8);
        assertEquals(1, driver.bar.readBigEndian(0x14) >>> 8 & 7, "the interface is disabled");
      }
      assertTrue(isOwnedByCard(2), "the command was not answered");
      assertEquals(0, driver.bar.readBigEndian(HEALTH_SYNDROME) >>> 16 & 0xff);
      driver.start();
    }
    driver.bringUp();
  }

  @Test
  void aLostInterruptLeavesItsEvent() throws Exception {
    TestUser user = new TestUser(driver);
    user.roceAddress(0, ADDRESS);
    var interrupts = new Semaphore(0);
    driver.device.allocateVectors(1, 1);
    driver.device.requestIrq(0, "all", vector -> interrupts.release());
    Traffic traffic = new Traffic(user);
    card.faults().loseInterrupts(1);
    arm(user, 0);
    traffic.sends.arm(false);
    traffic.exchange();
    user.awaitEvent(0, traffic.sends.number);
    assertFalse(interrupts.tryAcquire());
    arm(user, 1);
    traffic.sends.arm(false);
    traffic.exchange();
    assertTrue(interrupts.tryAcquire(30, TimeUnit.SECONDS));
  }

  private static void arm(TestUser user, int consumer) {
    user.driver.bar.writeBigEndian(user.uar * 4096L + 0x40, user.eqn << 24 | consumer);
  }

  @Test
  void aDmaFaultOfAQueueEndsItsQueuePair() {
    TestUser user = new TestUser(driver);
    user.roceAddress(0, ADDRESS);
    Traffic traffic = new Traffic(user);
    traffic.exchange();
    card.faults().failDma(1);
    traffic.one.post(new Wr(SEND).data(traffic.memory.address(), 64, traffic.key));
    // It may be that of the receiver, when the card still looks whether that has anything to send.
    Qp ended = user.awaitEvent(5) == traffic.one.number ? traffic.one : traffic.other;
    assertEquals(6, ended.state());
  }

  @Test
  void aBitOfACompletionIsWrong() {
    TestUser user = new TestUser(driver);
    user.roceAddress(0, ADDRESS);
    Traffic traffic = new Traffic(user);
    card.faults().corruptCompletions(2);
    assertEquals(65, TestUser.byteCount(traffic.exchange()));
    assertEquals(64, TestUser.byteCount(traffic.exchange()));
  }

  @Test
  void withoutItsCableThePortIsDown() {
    TestUser user = new TestUser(driver);
    user.roceAddress(0, ADDRESS);
    Traffic traffic = new Traffic(user);
    card.faults().cable(false);
    await(() -> !user.events(9).isEmpty(), "the port has changed");
    assertEquals(2, operationalState());
    traffic.other.receive(traffic.memory.address() + 4096, 64, traffic.key);
    traffic.one.post(new Wr(SEND).data(traffic.memory.address(), 64, traffic.key));
    card.faults().cable(true);
    assertEquals(1, operationalState());
    assertEquals(0, TestUser.opcode(traffic.sends.await()), "sent again until it arrives");
    assertEquals(2, user.events(9).size());
  }

  private int operationalState() {
    MemorySegment read = input(Opcode.ACCESS_REG, 1, Layouts.of("paos").size());
    Command.in(Opcode.ACCESS_REG, "register_id").set(read, 0, 0x5006);
    return Layouts.of("paos").field("oper_status").get(driver.succeed(read, Layouts.of("paos").size()), 16);
  }

  @Test
  void aCardIsPulledUnderTraffic() {
    for (int i = 0; i < 10; i++) {
      StandaloneBus other = new StandaloneBus();
      TestDriver second = new TestDriver();
      other.add(second);
      other.plug(TestCards.card("pulled", new Fabric(i, Clock.SYSTEM)), null);
      TestUser user = new TestUser(second);
      user.roceAddress(0, ADDRESS);
      Traffic traffic = new Traffic(user);
      for (int n = 0; n < 8; n++) {
        traffic.other.receive(traffic.memory.address() + 4096, 64, traffic.key);
        traffic.one.post(new Wr(SEND).data(traffic.memory.address(), 64, traffic.key));
      }
      other.pull(other.functions().getFirst().address());
      other.close();
    }
    assertTrue(
        Thread.getAllStackTraces().keySet().stream().noneMatch(thread -> thread.getName().endsWith("pulled")),
        "no thread is left");
  }

  @Test
  void moreMemoryIsAskedForWhenPagesRunOut() {
    TestUser user = new TestUser(driver);
    DmaMapping queue = pagesQueue(user);
    int events = 0;
    int commands = 0;
    while (events < 2) {
      driver.write(1, bigKey(user), 16);
      driver.bar.writeBigEndian(0x18, 1 << 1);
      commands++;
      await(() -> !isOwnedByCard(1) || wantedPages(queue, 0) > 0, "the command completes, or waits for pages");
      while (wantedPages(queue, events) > 0) {
        driver.givePages(wantedPages(queue, events++));
      }
      await(() -> !isOwnedByCard(1), "the command completes");
      assertEquals(0, Command.STATUS.get(driver.output(1, 16), 0));
    }
    assertTrue(commands > 1);
    assertEquals(driver.given.size(), card.pages().given());
    assertNotEquals(
        0, card.tables().stream().filter(table -> table.name().equals("mtt")).findAny().orElseThrow().pages());
    assertEquals(1, card.entries("pd", 10).size());
    assertTrue(card.entries("mkey", 1).getFirst().contains("translations_octword_size=0x1000"));
  }

  @Test
  void whatIsFarTooMuchIsOfferedBack() {
    TestUser user = new TestUser(driver);
    DmaMapping queue = pagesQueue(user);
    MemorySegment create = bigKey(user);
    TestUser.set(Layouts.MKC, create, 16, "translations_octword_size", 3 << 18);
    driver.write(1, create, 16);
    driver.bar.writeBigEndian(0x18, 1 << 1);
    await(() -> wantedPages(queue, 0) > 0, "pages are asked for");
    driver.givePages(wantedPages(queue, 0));
    await(() -> !isOwnedByCard(1), "the command completes");
    MemorySegment destroy = input(Opcode.DESTROY_MKEY, 0, 0);
    destroy.set(TestUser.DWORD, 8, driver.output(1, 16).get(TestUser.DWORD, 8));
    driver.succeed(destroy, 0);
    await(() -> wantedPages(queue, 1) < 0, "pages are offered");
    int offered = -wantedPages(queue, 1);
    MemorySegment take = input(Opcode.MANAGE_PAGES, 2, 0);
    Command.in(Opcode.MANAGE_PAGES, "input_num_entries").set(take, 0, offered);
    MemorySegment taken = driver.succeed(take, 200 * 8);
    assertEquals(200, TestUser.out(Opcode.MANAGE_PAGES, "output_num_entries", taken), "as many as there is room for");
  }

  private static int wantedPages(DmaMapping queue, int index) {
    MemorySegment entry = queue.segment().asSlice(index * 64L, 64);
    return Layouts.EQE.field("owner").isSet(entry, 0) ? 0 : Layouts.EQE.field("pages_num").get(entry, 0);
  }

  private DmaMapping pagesQueue(TestUser user) {
    DmaMapping buffer = user.allocate(4096);
    for (int i = 0; i < 64; i++) {
      Layouts.EQE.field("owner").set(buffer.segment(), i * 64L, 1);
    }
    MemorySegment create = input(Opcode.CREATE_EQ, 0, 8);
    long at = Command.in(Opcode.CREATE_EQ, "eq_context_entry").offset();
    TestUser.set(Layouts.EQC, create, at, "log_eq_size", 6);
    TestUser.set(Layouts.EQC, create, at, "uar_page", user.uar);
    create.set(TestUser.QWORD, Command.in(Opcode.CREATE_EQ, "event_bitmask").offset(), 1L << 0x0b);
    TestDriver.listed(create, Command.in(Opcode.CREATE_EQ, "pas"), 0, buffer.address());
    driver.succeed(create, 0);
    return buffer;
  }

  private MemorySegment bigKey(TestUser user) {
    MemorySegment create = input(Opcode.CREATE_MKEY, 0, 0);
    long at = Command.in(Opcode.CREATE_MKEY, "memory_key_mkey_entry").offset();
    user.rights(create, at, 1);
    TestUser.set(Layouts.MKC, create, at, "log_page_size", 12);
    TestUser.set(Layouts.MKC, create, at, "translations_octword_size", 1 << 12);
    return create;
  }

  /** Two queue pairs that talk to each other. */
  private static final class Traffic {
    final Cq sends;
    final Cq receives;
    final Qp one;
    final Qp other;
    final int key;
    final DmaMapping memory;

    Traffic(TestUser user) {
      sends = user.new Cq(6, 64);
      receives = user.new Cq(6, 64);
      one = user.new Qp(TestUser.RC, sends, receives, 0, 0, false);
      other = user.new Qp(TestUser.RC, sends, receives, 0, 0, false);
      key = user.physicalKey();
      memory = user.allocate(2 * 4096);
      one.init();
      other.init();
      one.ready(other.number, 0, ADDRESS);
      other.ready(one.number, 0, ADDRESS);
    }

    /** One message; returns the completion of the receive. */
    MemorySegment exchange() {
      other.receive(memory.address() + 4096, 64, key);
      one.post(new Wr(SEND).data(memory.address(), 64, key));
      sends.await();
      return receives.await();
    }
  }
}
