package org.rdma4j.mlx5.device.internal;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.rdma4j.mlx5.device.internal.TestDriver.input;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.rdma4j.mlx5.device.internal.TestUser.Cq;
import org.rdma4j.mlx5.device.internal.TestUser.Qp;
import org.rdma4j.mlx5.device.internal.TestUser.Wr;
import org.rdma4j.mlx5.ifc.Command;
import org.rdma4j.mlx5.ifc.Layouts;
import org.rdma4j.mlx5.ifc.Opcode;
import org.rdma4j.pci.DmaMapping;
import org.rdma4j.pci.standalone.StandaloneBus;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.link.Clock;
import org.rdma4j.roce.link.Fabric;

/** Memory keys: domains, rights, ranges, lists of other keys, registration by the driver's own queue pair. */
class KeysTest {
  private static final Gid ADDRESS = Gid.parse("2001:db8::1");
  private static final int SEND_INVALIDATE = 0x01;
  private static final int WRITE = 0x08;
  private static final int READ = 0x10;
  private static final int SWAP = 0x11;
  private static final int UMR = 0x25;
  private static final int PAGE = 4096;
  private static final int LOCAL_PROTECTION = 0x04;
  private static final int REMOTE_ACCESS = 0x13;
  private static final int LOCAL_OPERATION = 0x02;
  private static final int BIND = 0x06;
  private static final int BUSY = 6;
  /** What a bind of libmlx5 changes: length, start, key, queue pair, rights, free. */
  private static final long BIND_MASK = 1 | 1 << 6 | 1 << 13 | 1 << 14 | 0xf << 18 | 1 << 29;

  private final StandaloneBus bus = new StandaloneBus();
  private final TestDriver driver = new TestDriver();
  private TestUser user;
  private Cq queue;
  private Qp one;
  private Qp other;
  private int key;
  private DmaMapping memory;

  @BeforeEach
  void plug() {
    bus.add(driver);
    bus.plug(TestCards.card("keys", new Fabric(1, Clock.SYSTEM)), null);
    start(new TestUser(driver));
  }

  private void start(TestUser made) {
    user = made;
    user.roceAddress(0, ADDRESS);
    queue = user.new Cq(6, 64);
    key = user.physicalKey();
    memory = user.allocate(4 * PAGE);
    for (long i = 0; i < memory.length(); i++) {
      memory.segment().set(ValueLayout.JAVA_BYTE, i, (byte) (i * 7));
    }
    connect();
  }

  private void connect() {
    one = user.new Qp(TestUser.RC, queue, queue, 0, 0, false);
    other = user.new Qp(TestUser.RC, queue, queue, 0, 0, false);
    one.init();
    other.init();
    one.ready(other.number, 0, ADDRESS);
    other.ready(one.number, 0, ADDRESS);
  }

  @AfterEach
  void close() {
    bus.close();
  }

  private void fails(Wr wr, int syndrome) {
    one.post(wr);
    assertEquals(syndrome, TestUser.syndrome(queue.await()));
    driver.succeed(one.command(Opcode.TO_RST_QP), 0);
    connect();
  }

  private void succeeds(Qp qp, Wr wr) {
    qp.post(wr);
    MemorySegment cqe = queue.await();
    assertEquals(0, TestUser.opcode(cqe), () -> "syndrome " + TestUser.syndrome(cqe));
  }

  @Test
  void rangesAndVariantsAreChecked() {
    DmaMapping pages = user.allocate(2 * PAGE);
    int paged = user.pagedKey(pages, 0x5000, PAGE + 100, false);
    succeeds(one, new Wr(WRITE).remote(0x5000, paged).data(memory.address(), PAGE + 100, key));
    fails(new Wr(WRITE).remote(0x5000, paged).data(memory.address(), PAGE + 101, key), REMOTE_ACCESS);
    fails(new Wr(WRITE).remote(0x4fff, paged).data(memory.address(), 8, key), REMOTE_ACCESS);
    fails(new Wr(WRITE).remote(0x5000, paged ^ 1).data(memory.address(), 8, key), REMOTE_ACCESS);
    fails(new Wr(WRITE).remote(0x5000, paged).data(0x9999_0000_0000L, 8, key), LOCAL_PROTECTION);
    fails(new Wr(WRITE).remote(0x5000, paged).data(memory.address(), 8, key ^ 0x10), LOCAL_PROTECTION);
  }

  @Test
  void aKeyOfAnotherDomainIsNone() {
    DmaMapping pages = user.allocate(PAGE);
    int foreign = TestUser.out(Opcode.ALLOC_PD, "pd", driver.succeed(input(Opcode.ALLOC_PD, 0, 0), 0));
    MemorySegment create = input(Opcode.CREATE_MKEY, 0, 0);
    long at = Command.in(Opcode.CREATE_MKEY, "memory_key_mkey_entry").offset();
    user.rights(create, at, 0);
    TestUser.set(Layouts.MKC, create, at, "pd", foreign);
    TestUser.set(Layouts.MKC, create, at, "length64", 1);
    int apart = TestUser.out(Opcode.CREATE_MKEY, "mkey_index", driver.succeed(create, 0)) << 8;
    fails(new Wr(WRITE).remote(pages.address(), apart).data(memory.address(), 8, key), REMOTE_ACCESS);
    fails(new Wr(WRITE).remote(pages.address(), key).data(memory.address(), 8, apart), LOCAL_PROTECTION);
  }

  /** What a memory window is: a key on a range of another key. */
  @Test
  void aListOfRangesReachesOtherKeys() {
    DmaMapping pages = user.allocate(4 * PAGE);
    int paged = user.pagedKey(pages, 0x10000, 4 * PAGE, false);
    MemorySegment create = input(Opcode.CREATE_MKEY, 0, 32);
    long at = Command.in(Opcode.CREATE_MKEY, "memory_key_mkey_entry").offset();
    user.rights(create, at, 2);
    TestUser.set(Layouts.MKC, create, at, "translations_octword_size", 2);
    Command.in(Opcode.CREATE_MKEY, "translations_octword_actual_size").set(create, 0, 2);
    Layouts.MKC.field("start_addr").setLong(create, at, 0x80000);
    Layouts.MKC.field("len").setLong(create, at, 300);
    long list = Command.in(Opcode.CREATE_MKEY, "klm_pas_mtt").offset();
    create.set(TestUser.QWORD, list, 100L << 32 | paged);
    create.set(TestUser.QWORD, list + 8, 0x10000 + PAGE - 50);
    create.set(TestUser.QWORD, list + 16, 200L << 32 | paged);
    create.set(TestUser.QWORD, list + 24, 0x10000 + 2 * PAGE);
    int ranges = TestUser.out(Opcode.CREATE_MKEY, "mkey_index", driver.succeed(create, 0)) << 8;
    succeeds(one, new Wr(WRITE).remote(0x80000, ranges).data(memory.address(), 300, key));
    byte[] sent = memory.segment().asSlice(0, 300).toArray(ValueLayout.JAVA_BYTE);
    byte[] arrived = new byte[300];
    MemorySegment.copy(pages.segment(), PAGE - 50, MemorySegment.ofArray(arrived), 0, 100);
    MemorySegment.copy(pages.segment(), 2 * PAGE, MemorySegment.ofArray(arrived), 100, 200);
    assertArrayEquals(sent, arrived);
  }

  @Test
  void aPeerMayInvalidateAKeyThatAllowsIt() {
    DmaMapping pages = user.allocate(PAGE);
    int paged = user.pagedKey(pages, 0x5000, PAGE, false);
    other.receive(memory.address(), 64, key);
    one.post(new Wr(SEND_INVALIDATE).immediate(paged).data(memory.address() + PAGE, 8, key));
    MemorySegment first = queue.await();
    MemorySegment second = queue.await();
    MemorySegment received = TestUser.opcode(first) == 0 ? second : first;
    assertEquals(4, TestUser.opcode(received));
    assertEquals(paged, Layouts.CQE.field("imm_inval_pkey").get(received, 0));
    fails(new Wr(READ).remote(0x5000, paged).data(memory.address(), 8, key), REMOTE_ACCESS);
  }

  /** The driver's own queue pair fills a key of another domain from a list in memory. */
  @Test
  void theDriverRegistersThroughItsOwnQueuePair() {
    Qp registrar = user.new Qp(TestUser.REG_UMR, queue, queue, 0, 0, false);
    registrar.init();
    registrar.ready(0, 0, Gid.ZERO);
    DmaMapping pages = user.allocate(16 * PAGE);
    DmaMapping list = user.allocate(PAGE);
    for (int i = 0; i < 16; i++) {
      list.segment().set(TestUser.QWORD, i * 8L, pages.address() + (long) i * PAGE | 3);
    }
    int free = user.pagedKey(pages, 0, 0, true);
    long mask = 1 | 1 << 1 | 1 << 6 | 1 << 7 | 1 << 13 | 1 << 20 | 1 << 29;
    Wr register =
        new Wr(UMR)
            .immediate(free)
            .umr(1, mask, 8, false)
            .key("pd", user.pd)
            .key("mkey_7_0", 0x33)
            .key("rw", 1)
            .key("log_page_size", 12)
            .key("start_addr", 0x100000L)
            .key("len", 16L * PAGE)
            .data(list.address(), 128, key);
    succeeds(registrar, register);
    int now = free & ~0xff | 0x33;
    succeeds(one, new Wr(WRITE).remote(0x100000 + 15 * PAGE - 100, now).data(memory.address(), 200, key));
    assertArrayEquals(
        memory.segment().asSlice(0, 200).toArray(ValueLayout.JAVA_BYTE),
        pages.segment().asSlice(15 * PAGE - 100, 200).toArray(ValueLayout.JAVA_BYTE));
    registrar.post(register);
    assertEquals(LOCAL_OPERATION, TestUser.syndrome(queue.await()), "the key is not free any more");
  }

  /** The bind of a window of type 2 in the layout of libmlx5. */
  private Wr bind(int window, int variant, int region, long address, int length, Qp qp) {
    return new Wr(UMR)
        .immediate(window)
        .umr(1, BIND_MASK, 2, true)
        .key("mkey_7_0", variant)
        .key("qpn", qp.number)
        .key("rw", 1)
        .key("start_addr", address)
        .key("len", (long) length)
        .octoword((long) length << 32 | region, address)
        .octoword(0, 0)
        .octoword(0, 0)
        .octoword(0, 0);
  }

  private Wr invalidate(int which) {
    return new Wr(UMR).immediate(which).umr(0, 1 << 29, 0, true).key("free", 1);
  }

  private int destroy(int which) {
    MemorySegment destroy = input(Opcode.DESTROY_MKEY, 0, 0);
    Command.in(Opcode.DESTROY_MKEY, "mkey_index").set(destroy, 0, which >>> 8);
    return driver.status(destroy).number();
  }

  @Test
  void aWindowIsBoundUsedAndEnded() {
    DmaMapping pages = user.allocate(4 * PAGE);
    int region = user.pagedKey(pages, 0x10000, 4 * PAGE, false);
    int window = user.rangesKey();
    long place = 0x10000 + PAGE - 50;
    succeeds(other, bind(window, 5, region, place, 100, other));
    int bound = window | 5;
    succeeds(one, new Wr(WRITE).remote(place, bound).data(memory.address(), 100, key));
    assertArrayEquals(
        memory.segment().asSlice(0, 100).toArray(ValueLayout.JAVA_BYTE),
        pages.segment().asSlice(PAGE - 50, 100).toArray(ValueLayout.JAVA_BYTE));
    assertEquals(BUSY, destroy(region), "a window is bound to it");
    other.post(bind(window, 6, region, place, 10, other));
    assertEquals(BIND, TestUser.syndrome(queue.await()), "bound already");
    driver.succeed(other.command(Opcode.TO_RST_QP), 0);
    connect();
    fails(new Wr(WRITE).remote(place, bound).data(memory.address(), 8, key), REMOTE_ACCESS);
    fails(invalidate(bound), LOCAL_OPERATION);
    assertEquals(BUSY, destroy(region), "only its queue pair may end it");
  }

  @Test
  void aBindBeyondItsRegionFails() {
    DmaMapping pages = user.allocate(PAGE);
    int region = user.pagedKey(pages, 0x10000, PAGE, false);
    int window = user.rangesKey();
    fails(bind(window, 1, region, 0x10000 + PAGE - 10, 11, one), BIND);
    fails(bind(window, 1, region ^ 1, 0x10000, 10, one), BIND);
    fails(bind(window ^ 7, 1, region, 0x10000, 10, one), BIND);
    fails(bind(window, 1, user.rangesKey(), 0x10000, 10, one), BIND);
    succeeds(one, bind(window, 1, region, 0x10000 + PAGE - 10, 10, one));
    fails(invalidate(window | 2), LOCAL_OPERATION);
    fails(invalidate(window | 1), LOCAL_OPERATION);
    assertEquals(BUSY, destroy(region));
    assertEquals(0, destroy(window));
    assertEquals(0, destroy(region));
  }

  @Test
  void aWindowEndsWithItsQueuePair() {
    DmaMapping pages = user.allocate(PAGE);
    int region = user.pagedKey(pages, 0x10000, PAGE, false);
    int window = user.rangesKey();
    succeeds(other, bind(window, 1, region, 0x10000, 10, other));
    succeeds(other, invalidate(window | 1));
    succeeds(other, bind(window | 1, 2, region, 0x10000, 10, other));
    one.post(new Wr(SEND_INVALIDATE).immediate(region).data(memory.address(), 8, key));
    other.receive(memory.address() + PAGE, 64, key);
    assertEquals(REMOTE_ACCESS, TestUser.syndrome(ofSend(queue.await(), queue.await())), "a window is bound");
    assertEquals(BUSY, destroy(region));
    driver.succeed(other.command(Opcode.DESTROY_QP), 0);
    assertEquals(0, destroy(region));
  }

  private static MemorySegment ofSend(MemorySegment first, MemorySegment second) {
    return TestUser.opcode(first) == 13 ? first : second;
  }

  @Test
  void repliesOfAtomicsAreInTheHostsOrderWhenTheDriverWantsIt() {
    driver.device.reset();
    driver.start();
    driver.succeed(input(Opcode.ENABLE_HCA, 0, 0), 0);
    MemorySegment set = input(Opcode.SET_HCA_CAP, Capabilities.ATOMIC << 1, 0);
    long page = Command.in(Opcode.SET_HCA_CAP, "capability").offset();
    Layouts.ATOMIC_CAP.field("atomic_req_8B_endianness_mode").set(set, page, 1);
    driver.succeed(set, 0);
    MemorySegment current = driver.succeed(input(Opcode.QUERY_HCA_CAP, Capabilities.ATOMIC << 1 | 1, 0), 0);
    assertEquals(3, Layouts.ATOMIC_CAP.field("atomic_operations").get(current, 16), "the rest stays");
    driver.givePages(driver.wantedPages(2));
    driver.succeed(input(Opcode.INIT_HCA, 0, 0), 0);
    start(TestUser.ofRunning(driver));
    memory.segment().set(ValueLayout.JAVA_LONG, 0, 5);
    succeeds(one, new Wr(SWAP).remote(memory.address(), key).atomic(6, 5).data(memory.address() + PAGE, 8, key));
    assertEquals(5, memory.segment().get(ValueLayout.JAVA_LONG, PAGE));
    assertEquals(6, memory.segment().get(ValueLayout.JAVA_LONG, 0));
  }
}
