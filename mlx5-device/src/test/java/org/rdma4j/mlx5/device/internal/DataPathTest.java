package org.rdma4j.mlx5.device.internal;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.rdma4j.mlx5.device.internal.TestDriver.input;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
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

/** Work queue entries, doorbells and completions, through PCI alone; a queue pair talks to another of the card. */
class DataPathTest {
  private static final Gid ADDRESS = Gid.parse("::ffff:192.0.2.1");
  private static final int SEND = 0x0a;
  private static final int SEND_IMM = 0x0b;
  private static final int WRITE = 0x08;
  private static final int WRITE_IMM = 0x09;
  private static final int READ = 0x10;
  private static final int SWAP = 0x11;
  private static final int ADD = 0x12;
  private static final int UMR = 0x25;
  private static final int NOP = 0;

  private final StandaloneBus bus = new StandaloneBus();
  private final TestDriver driver = new TestDriver();
  private Card card;
  private TestUser user;
  private Cq sends;
  private Cq receives;
  private Qp one;
  private Qp other;
  private int key;
  private DmaMapping memory;

  @BeforeEach
  void plug() {
    bus.add(driver);
    card = TestCards.card("data", new Fabric(1, Clock.SYSTEM));
    bus.plug(card, null);
    user = new TestUser(driver);
    user.roceAddress(0, ADDRESS);
    sends = user.new Cq(8, 64);
    receives = user.new Cq(8, 128);
    key = user.physicalKey();
    memory = user.allocate(1 << 16);
    Random random = new Random(1);
    for (int i = 0; i < 1 << 15; i++) {
      memory.segment().set(ValueLayout.JAVA_BYTE, i, (byte) random.nextInt());
    }
  }

  @AfterEach
  void close() {
    bus.close();
  }

  private void connect(int service) {
    one = user.new Qp(service, sends, receives, 0, 0, false);
    other = user.new Qp(service, sends, receives, 0, 0, false);
    one.init();
    other.init();
    one.ready(other.number, 0, ADDRESS);
    other.ready(one.number, 0, ADDRESS);
  }

  private byte[] bytes(long at, int count) {
    return memory.segment().asSlice(at, count).toArray(ValueLayout.JAVA_BYTE);
  }

  private static void assertGood(MemorySegment cqe, int opcode, Qp qp) {
    assertEquals(opcode, TestUser.opcode(cqe), () -> "syndrome " + TestUser.syndrome(cqe));
    assertEquals(qp.number, Layouts.CQE.field("qpn").get(cqe, 0));
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 64, 1024, 5000, 32768})
  void sendsArrive(int length) {
    connect(TestUser.RC);
    other.receive(memory.address() + 32768, 32768, key);
    int index = one.post(new Wr(SEND_IMM).immediate(0x0102_0304).data(memory.address(), length, key));
    MemorySegment sent = sends.await();
    assertGood(sent, 0, one);
    assertEquals(index, TestUser.counter(sent));
    MemorySegment received = receives.await();
    assertGood(received, 3, other);
    assertEquals(0x0102_0304, Layouts.CQE.field("imm_inval_pkey").get(received, 0));
    assertEquals(length, TestUser.byteCount(received));
    assertEquals(2, Layouts.CQE.field("roce_packet_type").get(received, 0), "IPv4");
    assertArrayEquals(bytes(0, length), bytes(32768, length));
  }

  @Test
  void unsignalledSendsCompleteWithTheNext() {
    connect(TestUser.RC);
    for (int i = 0; i < 3; i++) {
      other.receive(memory.address() + 32768, 64, key);
      one.post(new Wr(SEND).flags(i == 2 ? 2 << 2 : 0).data(memory.address(), 64, key));
    }
    assertEquals(2, TestUser.counter(sends.await()));
    for (int i = 0; i < 3; i++) {
      assertEquals(i, TestUser.counter(receives.await()));
    }
    assertNull(sends.poll());
  }

  @Test
  void inlineDataComesFromTheEntry() {
    connect(TestUser.RC);
    byte[] text = new byte[200];
    new Random(2).nextBytes(text);
    other.receive(memory.address() + 32768, 1024, key);
    one.post(new Wr(SEND).inline(text));
    assertGood(sends.await(), 0, one);
    assertGood(receives.await(), 2, other);
    assertArrayEquals(text, bytes(32768, 200));
  }

  @Test
  void blueFlameBringsTheEntryItself() {
    connect(TestUser.RC);
    Wr silent = new Wr(NOP).flags(0);
    one.write(silent.memory, 16);
    MemorySegment loud = Arena.ofAuto().allocate(64, 8).copyFrom(silent.memory.asSlice(0, 64));
    loud.set(TestUser.DWORD, 8, 2 << 2);
    one.record.segment().set(TestUser.DWORD, 4, one.sent);
    driver.bar.write(user.uar * 4096L + 0x800, loud, 0, 64);
    assertGood(sends.await(), 0, one);
  }

  @Test
  void writesReadsAndAtomicsReachMemoryOfAKey() {
    connect(TestUser.RC);
    DmaMapping pages = user.allocate(4 * 4096);
    int paged = user.pagedKey(pages, 0x7000_0000_0100L, 3 * 4096, false);
    long target = 0x7000_0000_0100L;
    one.post(new Wr(WRITE).remote(target + 4000, paged).data(memory.address(), 4096, key));
    assertGood(sends.await(), 0, one);
    assertArrayEquals(bytes(0, 4096), pages.segment().asSlice(0x100 + 4000, 4096).toArray(ValueLayout.JAVA_BYTE));
    one.post(new Wr(READ).remote(target + 4000, paged).data(memory.address() + 40000, 4096, key));
    MemorySegment read = sends.await();
    assertGood(read, 0, one);
    assertEquals(4096, TestUser.byteCount(read));
    assertArrayEquals(bytes(0, 4096), bytes(40000, 4096));
    pages.segment().set(ValueLayout.JAVA_LONG, 0x100, 41);
    one.post(new Wr(ADD).remote(target, paged).atomic(1, 0).data(memory.address() + 40000, 8, key));
    assertGood(sends.await(), 0, one);
    assertEquals(42, pages.segment().get(ValueLayout.JAVA_LONG, 0x100));
    assertEquals(41, memory.segment().get(TestUser.QWORD, 40000), "big endian until the driver wants it otherwise");
    one.post(new Wr(SWAP).remote(target, paged).atomic(7, 42).data(memory.address() + 40000, 8, key));
    assertGood(sends.await(), 0, one);
    assertEquals(7, pages.segment().get(ValueLayout.JAVA_LONG, 0x100));
    other.receive(memory.address() + 50000, 64, key);
    one.post(new Wr(WRITE_IMM).immediate(9).remote(target, paged).data(memory.address(), 100, key));
    assertGood(sends.await(), 0, one);
    MemorySegment written = receives.await();
    assertGood(written, 1, other);
    assertEquals(100, TestUser.byteCount(written));
  }

  @Test
  void datagramsCarryAGrhInTheBuffer() {
    one = user.new Qp(TestUser.UD, sends, receives, 0, 0, false);
    other = user.new Qp(TestUser.UD, sends, receives, 0, 0, false);
    for (Qp each : new Qp[] {one, other}) {
      each.init();
      each.ready(0, 0, Gid.ZERO);
    }
    other.receive(memory.address() + 40000, 200, key);
    one.post(new Wr(SEND).datagram(other.number, 0x1234, 0, ADDRESS).data(memory.address(), 100, key));
    assertGood(sends.await(), 0, one);
    MemorySegment received = receives.await();
    assertGood(received, 2, other);
    assertEquals(140, TestUser.byteCount(received));
    assertEquals(1, Layouts.CQE.field("g").get(received, 0));
    assertEquals(one.number, Layouts.CQE.field("remote_qp").get(received, 0));
    assertArrayEquals(bytes(0, 100), bytes(40040, 100));
  }

  @Test
  void unreliableConnectionsCarryWrites() {
    connect(TestUser.UC);
    other.receive(memory.address() + 50000, 64, key);
    one.post(new Wr(WRITE_IMM).immediate(1).remote(memory.address() + 40000, key).data(memory.address(), 3000, key));
    assertGood(sends.await(), 0, one);
    assertGood(receives.await(), 1, other);
    assertArrayEquals(bytes(0, 3000), bytes(40000, 3000));
  }

  @Test
  void aPoolServesManyAndTellsOfItsLimit() {
    int pool = pool();
    one = user.new Qp(TestUser.RC, sends, receives, 0, 0, false);
    other = user.new Qp(TestUser.RC, sends, receives, pool, 0, false);
    one.init();
    other.init();
    one.ready(other.number, 0, ADDRESS);
    other.ready(one.number, 0, ADDRESS);
    one.post(new Wr(SEND).data(memory.address(), 64, key));
    assertGood(sends.await(), 0, one);
    MemorySegment received = receives.await();
    assertGood(received, 2, other);
    assertEquals(pool, Layouts.CQE.field("srqn_uidx").get(received, 0));
    assertEquals(0, TestUser.counter(received));
    user.awaitEvent(0x14, pool);
  }

  private int pool() {
    DmaMapping ring = user.allocate(4096);
    DmaMapping record = user.allocate(64);
    for (int i = 0; i < 8; i++) {
      MemorySegment entry = ring.segment().asSlice(i * 64L, 64);
      entry.set(TestUser.DWORD, 0, i + 1 & 7);
      entry.set(TestUser.DWORD, 16, 1000);
      entry.set(TestUser.DWORD, 20, key);
      entry.set(TestUser.QWORD, 24, memory.address() + 40000 + i * 1000L);
      entry.set(TestUser.DWORD, 32, 0);
      entry.set(TestUser.DWORD, 36, 0x100);
    }
    record.segment().set(TestUser.DWORD, 0, 2);
    MemorySegment create = input(Opcode.CREATE_RMP, 0, 8);
    long at = Command.in(Opcode.CREATE_RMP, "ctx").offset();
    TestUser.set(Layouts.RMPC, create, at, "state", 1);
    long wq = at + 0x30;
    TestUser.set(Layouts.WQ, create, wq, "pd", user.pd);
    TestUser.set(Layouts.WQ, create, wq, "lwm", 2);
    TestUser.set(Layouts.WQ, create, wq, "log_wq_stride", 6);
    TestUser.set(Layouts.WQ, create, wq, "log_wq_sz", 3);
    Layouts.WQ.field("dbr_addr").setLong(create, wq, record.address());
    create.set(TestUser.QWORD, wq + 0xc0, ring.address());
    return TestUser.out(Opcode.CREATE_RMP, "rmpn", driver.succeed(create, 0));
  }

  @Test
  void xrcRequestsNameTheirQueue() {
    int xrcd = TestUser.out(Opcode.ALLOC_XRCD, "xrcd", driver.succeed(input(Opcode.ALLOC_XRCD, 0, 0), 0));
    Cq third = user.new Cq(4, 64);
    int queue = xrcQueue(xrcd, third);
    one = user.new Qp(TestUser.XRC, sends, receives, queue, xrcd, false);
    other = user.new Qp(TestUser.XRC, sends, receives, queue, xrcd, true);
    one.init();
    other.init();
    one.ready(other.number, 0, ADDRESS);
    other.ready(one.number, 0, ADDRESS);
    one.post(new Wr(SEND).xrc(queue).data(memory.address(), 64, key));
    assertGood(sends.await(), 0, one);
    MemorySegment received = third.await();
    assertGood(received, 2, other);
    assertEquals(queue, Layouts.CQE.field("srqn_uidx").get(received, 0));
    assertArrayEquals(bytes(0, 64), bytes(40000, 64));
  }

  private int xrcQueue(int xrcd, Cq completions) {
    DmaMapping ring = user.allocate(4096);
    DmaMapping record = user.allocate(64);
    MemorySegment entry = ring.segment();
    entry.set(TestUser.DWORD, 0, 1);
    entry.set(TestUser.DWORD, 16, 1000);
    entry.set(TestUser.DWORD, 20, key);
    entry.set(TestUser.QWORD, 24, memory.address() + 40000);
    record.segment().set(TestUser.DWORD, 0, 1);
    MemorySegment create = input(Opcode.CREATE_XRC_SRQ, 0, 8);
    long at = Command.in(Opcode.CREATE_XRC_SRQ, "xrc_srq_context_entry").offset();
    TestUser.set(Layouts.XRC_SRQC, create, at, "log_xrc_srq_size", 3);
    TestUser.set(Layouts.XRC_SRQC, create, at, "log_rq_stride", 1);
    TestUser.set(Layouts.XRC_SRQC, create, at, "xrcd", xrcd);
    TestUser.set(Layouts.XRC_SRQC, create, at, "cqn", completions.number);
    TestUser.set(Layouts.XRC_SRQC, create, at, "pd", user.pd);
    TestUser.set(Layouts.XRC_SRQC, create, at, "db_record_addr_h", (int) (record.address() >>> 32));
    TestUser.set(Layouts.XRC_SRQC, create, at, "db_record_addr_l", (int) record.address() >>> 2);
    create.set(TestUser.QWORD, Command.in(Opcode.CREATE_XRC_SRQ, "pas").offset(), ring.address());
    return TestUser.out(Opcode.CREATE_XRC_SRQ, "xrc_srqn", driver.succeed(create, 0));
  }

  @Test
  void registrationByEntriesMakesAndEndsAKey() {
    connect(TestUser.RC);
    DmaMapping pages = user.allocate(4 * 4096);
    int fresh = user.pagedKey(pages, 0, 0, true);
    int next = fresh + 1;
    long mask = 1 | 1 << 1 | 1 << 6 | 1 << 8 | 1 << 13 | 1 << 17 | 1 << 18 | 1 << 19 | 1 << 20 | 1 << 29;
    Wr register =
        new Wr(UMR)
            .immediate(fresh)
            .umr(1, mask, 4, true)
            .key("mkey_7_0", next & 0xff)
            .key("lr", 1)
            .key("lw", 1)
            .key("rr", 1)
            .key("rw", 1)
            .key("en_rinval", 1)
            .key("log_page_size", 12)
            .key("start_addr", 0x9000_0000L)
            .key("len", 4 * 4096L)
            .octoword(pages.address() | 3, pages.address() + 4096 | 3)
            .octoword(pages.address() + 8192 | 3, pages.address() + 12288 | 3)
            .octoword(0, 0)
            .octoword(0, 0);
    one.post(register);
    MemorySegment done = sends.await();
    assertGood(done, 0, one);
    assertEquals(UMR, Layouts.CQE.field("send_opcode").get(done, 0));
    one.post(new Wr(WRITE).remote(0x9000_0000L + 4000, next).data(memory.address(), 5000, key));
    assertGood(sends.await(), 0, one);
    assertArrayEquals(bytes(0, 5000), pages.segment().asSlice(4000, 5000).toArray(ValueLayout.JAVA_BYTE));
    one.post(new Wr(UMR).immediate(next).umr(0, 1 << 29, 0, true).key("free", 1));
    assertGood(sends.await(), 0, one);
    one.post(new Wr(WRITE).remote(0x9000_0000L, next).data(memory.address(), 50, key));
    MemorySegment refused = sends.await();
    assertEquals(13, TestUser.opcode(refused));
    assertEquals(0x13, TestUser.syndrome(refused), "remote access");
    assertEquals(6, one.state(), "error");
    user.awaitEvent(0x11, other.number);
  }

  @Test
  void errorsFlushWhatIsPosted() {
    connect(TestUser.RC);
    one.receive(memory.address() + 40000, 64, key);
    one.post(new Wr(SEND).data(memory.address(), 64, 0xdead00));
    one.post(new Wr(SEND).data(memory.address(), 64, key));
    MemorySegment failed = sends.await();
    assertEquals(13, TestUser.opcode(failed));
    assertEquals(4, TestUser.syndrome(failed), "local protection");
    assertNotEquals(0, Layouts.CQE.field("vendor_syndrome").get(failed, 0));
    assertEquals(5, TestUser.syndrome(sends.await()), "flushed");
    MemorySegment flushed = receives.await();
    assertEquals(14, TestUser.opcode(flushed));
    assertEquals(5, TestUser.syndrome(flushed));
    driver.succeed(one.command(Opcode.TO_RST_QP), 0);
    assertEquals(0, one.state());
  }

  @Test
  void malformedEntriesFailAlone() {
    connect(TestUser.RC);
    Wr bad = new Wr(0x7f).data(memory.address(), 64, key);
    one.post(bad);
    MemorySegment failed = sends.await();
    assertEquals(13, TestUser.opcode(failed));
    assertEquals(2, TestUser.syndrome(failed), "local QP operation");
  }

  @Test
  void completionsWakeWhoHasArmed() {
    connect(TestUser.RC);
    sends.arm(false);
    assertTrue(user.events(0).isEmpty());
    other.receive(memory.address() + 40000, 64, key);
    one.post(new Wr(SEND).data(memory.address(), 64, key));
    user.awaitEvent(0, sends.number);
    receives.await();
    receives.arm(true);
    other.receive(memory.address() + 40000, 64, key);
    one.post(new Wr(SEND).data(memory.address(), 64, key));
    receives.await();
    assertTrue(!user.events(0).contains(receives.number), "not solicited");
    other.receive(memory.address() + 40000, 64, key);
    one.post(new Wr(SEND).flags(2 << 2 | 2).data(memory.address(), 64, key));
    user.awaitEvent(0, receives.number);
  }

  @Test
  void aFullQueueIsAnErrorOfTheQueue() {
    sends = user.new Cq(1, 64);
    connect(TestUser.RC);
    for (int i = 0; i < 4; i++) {
      one.post(new Wr(NOP));
    }
    user.awaitEvent(4, sends.number);
    user.awaitEvent(5, one.number);
    assertEquals(6, one.state());
  }

  @Test
  void aResizedQueueGoesOnInItsNewBuffer() {
    connect(TestUser.RC);
    for (int i = 0; i < 4; i++) {
      one.post(new Wr(NOP));
    }
    sends.await();
    while (producer() < 4) {
      Thread.onSpinWait();
    }
    DmaMapping fresh = user.allocate(4096);
    fresh.segment().fill((byte) 0xff);
    MemorySegment modify = input(Opcode.MODIFY_CQ, 1, 8);
    Command.in(Opcode.MODIFY_CQ, "cqn").set(modify, 0, sends.number);
    modify.set(TestUser.DWORD, 12, 1 | 2 | 4);
    TestUser.set(Layouts.CQC, modify, Command.in(Opcode.MODIFY_CQ, "cq_context").offset(), "log_cq_size", 1);
    TestDriver.listed(modify, Command.in(Opcode.MODIFY_CQ, "pas"), 0, fresh.address());
    assertEquals(CommandStatus.BAD_SIZE, driver.status(modify), "three are unread");
    TestUser.set(Layouts.CQC, modify, Command.in(Opcode.MODIFY_CQ, "cq_context").offset(), "log_cq_size", 3);
    driver.succeed(modify, 0);
    for (int i = 1; i < 4; i++) {
      assertEquals(i, TestUser.counter(sends.await()));
    }
    assertEquals(5, TestUser.opcode(sends.await()), "the old buffer ends");
    one.post(new Wr(NOP));
    while (producer() < 6) {
      Thread.onSpinWait();
    }
    assertEquals(4, TestUser.counter(fresh.segment().asSlice(5 * 64L, 64)), "the sixth entry of all");
  }

  private int producer() {
    MemorySegment query = input(Opcode.QUERY_CQ, 0, 0);
    Command.in(Opcode.QUERY_CQ, "cqn").set(query, 0, sends.number);
    MemorySegment output = driver.succeed(query, 0);
    return Layouts.CQC.field("producer_counter").get(output, Command.out(Opcode.QUERY_CQ, "cq_context").offset());
  }

  @Test
  void whatIsInUseStays() {
    connect(TestUser.RC);
    MemorySegment destroy = input(Opcode.DESTROY_CQ, 0, 0);
    Command.in(Opcode.DESTROY_CQ, "cqn").set(destroy, 0, sends.number);
    assertEquals(CommandStatus.RESOURCE_BUSY, driver.status(destroy));
    MemorySegment pd = input(Opcode.DEALLOC_PD, 0, 0);
    Command.in(Opcode.DEALLOC_PD, "pd").set(pd, 0, user.pd);
    assertEquals(CommandStatus.RESOURCE_BUSY, driver.status(pd));
    driver.succeed(input(Opcode.TEARDOWN_HCA, 0, 0), 0);
    assertTrue(card.tables().stream().allMatch(table -> table.used() == 0 && table.pages() == 0), "all is gone");
    assertEquals(card.pages().given(), card.pages().free());
  }
}
