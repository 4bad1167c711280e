package org.rdma4j.mlx5.ib;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.rdma4j.ib.core.verbs.Access;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.MemoryRegion;
import org.rdma4j.ib.core.verbs.MemoryWindow;
import org.rdma4j.ib.core.verbs.MwBindInfo;
import org.rdma4j.ib.core.verbs.MwType;
import org.rdma4j.ib.core.verbs.QpInitAttributes;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.QueuePair;
import org.rdma4j.ib.core.verbs.ReceiveWorkRequest;
import org.rdma4j.ib.core.verbs.Rkeys;
import org.rdma4j.ib.core.verbs.SendFlag;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.ib.core.verbs.WcFlag;
import org.rdma4j.ib.core.verbs.WcOpcode;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.ib.core.verbs.WorkCompletion;
import org.rdma4j.ib.core.verbs.WorkRequestBuilder;
import org.rdma4j.ib.core.verbs.WrOpcode;
import org.rdma4j.roce.address.PathMtu;
import org.rdma4j.roce.engine.FailedCheck;

/** Memory windows between two cards: {@code b} binds, {@code a} uses what is bound. */
class MemoryWindowTest {
  private static final int BYTES = 64 * 1024;
  private static final int OFFSET = 8192;
  private static final int LENGTH = 4096;

  private final TestHost left = new TestHost();
  private final TestHost right = new TestHost();
  private final End a = new End(left, QpType.RC, BYTES);
  private final End b = new End(right, QpType.RC, BYTES);
  private final MemoryRegion region =
      b.pd.registerMemory(
          b.memory,
          Access.LOCAL_WRITE,
          Access.REMOTE_WRITE,
          Access.REMOTE_READ,
          Access.REMOTE_ATOMIC,
          Access.MW_BIND);

  @BeforeEach
  void connect() {
    a.connect(b, PathMtu.MTU_1024);
    b.connect(a, PathMtu.MTU_1024);
  }

  @AfterEach
  void close() {
    a.close();
    b.close();
    left.close();
    right.close();
  }

  private MwBindInfo window(Access... access) {
    return new MwBindInfo(region, region.address() + OFFSET, LENGTH, access);
  }

  private WorkCompletion bind(MemoryWindow window, int key, MwBindInfo info) {
    b.qp.postSend(new SendWorkRequest().wrId(50).flags(SendFlag.SIGNALED).bindMw(window, key, info));
    return b.next();
  }

  /** Binds a new window of type 2 to the middle of the region. */
  private MemoryWindow bound(Access... access) {
    MemoryWindow window = b.pd.allocateMw(MwType.TYPE_2);
    WorkCompletion done = bind(window, Rkeys.increment(window.rkey()), window(access));
    assertEquals(WcStatus.SUCCESS, done.status(), done.toString());
    assertEquals(WcOpcode.BIND_MW, done.opcode());
    assertEquals(50, done.wrId());
    return window;
  }

  private WorkCompletion remote(WrOpcode opcode, int rkey, long address, int length) {
    a.qp.postSend(
        new SendWorkRequest()
            .opcode(opcode)
            .flags(SendFlag.SIGNALED)
            .rkey(rkey)
            .remoteAddress(address)
            .compareAdd(5)
            .addSge(a.region.address(), length, a.region.lkey()));
    return a.next();
  }

  private WorkCompletion write(int rkey, long offset, int length) {
    return remote(WrOpcode.RDMA_WRITE, rkey, region.address() + offset, length);
  }

  private void writes(int rkey, long offset, int length, int seed) {
    a.fill(0, length, seed);
    WorkCompletion done = write(rkey, offset, length);
    assertEquals(WcStatus.SUCCESS, done.status(), done.toString());
    b.verify(offset, length, seed);
  }

  private static void refusedAccess(WorkCompletion done) {
    assertEquals(WcStatus.REM_ACCESS_ERR, done.status());
    assertEquals(FailedCheck.NAK_REMOTE_ACCESS.code(), done.vendorError());
  }

  private void invalidate(int rkey) {
    b.qp.postSend(
        new SendWorkRequest().opcode(WrOpcode.LOCAL_INV).flags(SendFlag.SIGNALED).invalidateRkey(rkey));
  }

  @Test
  void aPeerWritesThroughAWindowAndInvalidatesItBySending() {
    MemoryWindow window = bound(Access.REMOTE_WRITE);
    int key = window.rkey();
    writes(key, OFFSET, LENGTH, 1);
    writes(key, OFFSET + 100, 1, 2);
    b.qp.postReceive(new ReceiveWorkRequest().wrId(100).addSge(b.region.address(), 64, b.region.lkey()));
    a.qp.postSend(
        new SendWorkRequest()
            .opcode(WrOpcode.SEND_WITH_INV)
            .invalidateRkey(key)
            .flags(SendFlag.SIGNALED)
            .addSge(a.region.address(), 32, a.region.lkey()));
    WorkCompletion received = b.nextSuccess();
    assertEquals(WcFlag.WITH_INVALIDATE, received.flags() & WcFlag.WITH_INVALIDATE);
    assertEquals(key, received.invalidatedRkey());
    assertEquals(32, received.byteLength());
    a.nextSuccess();
    refusedAccess(write(key, OFFSET, 100));
  }

  @Test
  void aWindowEndsWhereItsBytesEnd() {
    MemoryWindow window = bound(Access.REMOTE_WRITE);
    writes(window.rkey(), OFFSET + LENGTH - 100, 100, 3);
    refusedAccess(write(window.rkey(), OFFSET + LENGTH - 100, 101));
  }

  @Test
  void aWindowBeginsWhereItsBytesBegin() {
    MemoryWindow window = bound(Access.REMOTE_WRITE);
    refusedAccess(write(window.rkey(), OFFSET - 1, 2));
  }

  @Test
  void aWindowGivesOnlyItsOwnRights() {
    MemoryWindow window = bound(Access.REMOTE_READ);
    b.fill(OFFSET, LENGTH, 4);
    long address = region.address() + OFFSET;
    assertEquals(WcStatus.SUCCESS, remote(WrOpcode.RDMA_READ, window.rkey(), address, LENGTH).status());
    a.verify(0, LENGTH, 4);
    refusedAccess(write(window.rkey(), OFFSET, 1));
  }

  @Test
  void atomicsGoThroughAWindow() {
    MemoryWindow window = bound(Access.REMOTE_ATOMIC);
    b.memory.set(ValueLayout.JAVA_LONG, OFFSET + 8, 40);
    WorkCompletion done =
        remote(WrOpcode.ATOMIC_FETCH_AND_ADD, window.rkey(), region.address() + OFFSET + 8, Long.BYTES);
    assertEquals(WcStatus.SUCCESS, done.status());
    assertEquals(40, a.memory.get(ValueLayout.JAVA_LONG, 0));
    assertEquals(45, b.memory.get(ValueLayout.JAVA_LONG, OFFSET + 8));
  }

  @Test
  void aZeroBasedWindowCountsFromZero() {
    MemoryWindow window = b.pd.allocateMw(MwType.TYPE_2);
    MwBindInfo info =
        new MwBindInfo(
            region,
            region.address() + OFFSET + 4,
            LENGTH,
            Access.REMOTE_WRITE,
            Access.REMOTE_ATOMIC,
            Access.ZERO_BASED);
    assertEquals(WcStatus.SUCCESS, bind(window, Rkeys.increment(window.rkey()), info).status());
    a.fill(0, LENGTH, 5);
    assertEquals(WcStatus.SUCCESS, remote(WrOpcode.RDMA_WRITE, window.rkey(), 0, LENGTH).status());
    b.verify(OFFSET + 4, LENGTH, 5);
    b.memory.set(ValueLayout.JAVA_LONG_UNALIGNED, OFFSET + 4 + 8, 40);
    assertEquals(WcStatus.SUCCESS, remote(WrOpcode.ATOMIC_FETCH_AND_ADD, window.rkey(), 8, 8).status());
    assertEquals(45, b.memory.get(ValueLayout.JAVA_LONG_UNALIGNED, OFFSET + 4 + 8));
    refusedAccess(write(window.rkey(), OFFSET + 4, 1));
  }

  @Test
  void afterALocalInvalidateAWindowIsBoundAgainUnderAnotherKey() {
    MemoryWindow window = bound(Access.REMOTE_WRITE);
    int first = window.rkey();
    writes(first, OFFSET, 64, 6);
    invalidate(first);
    assertEquals(WcOpcode.LOCAL_INV, b.nextSuccess().opcode());
    int second = Rkeys.withTag(first, first + 17);
    MwBindInfo elsewhere = new MwBindInfo(region, region.address(), 128, Access.REMOTE_WRITE);
    assertEquals(WcStatus.SUCCESS, bind(window, second, elsewhere).status());
    assertEquals(second, window.rkey());
    writes(second, 0, 128, 7);
    refusedAccess(write(first, 0, 1));
  }

  @Test
  void aBatchBindsInvalidatesAndBindsAgain() {
    MemoryWindow window = b.pd.allocateMw(MwType.TYPE_2);
    int first = Rkeys.increment(window.rkey());
    int second = Rkeys.increment(first);
    WorkRequestBuilder builder = b.qp.workRequests();
    builder.start();
    builder.flags(SendFlag.SIGNALED);
    builder.wrId(1);
    builder.bindMw(window, first, window(Access.REMOTE_READ));
    builder.wrId(2);
    builder.localInv(first);
    builder.wrId(3);
    builder.bindMw(window, second, window(Access.REMOTE_WRITE));
    builder.complete();
    for (int i = 1; i <= 3; i++) {
      assertEquals(i, b.nextSuccess().wrId());
    }
    writes(second, OFFSET, LENGTH, 8);
  }

  @Test
  void aWindowOfType1IsBoundByItsCallAndBoundAgainAtAnyTime() {
    MemoryWindow window = b.pd.allocateMw(MwType.TYPE_1);
    int first = window.bind(b.qp, 1, SendFlag.SIGNALED, window(Access.REMOTE_WRITE));
    assertEquals(WcOpcode.BIND_MW, b.nextSuccess().opcode());
    assertEquals(first, window.rkey());
    writes(first, OFFSET, LENGTH, 9);
    MwBindInfo other = new MwBindInfo(region, region.address(), 256, Access.REMOTE_WRITE);
    int second = window.bind(b.qp, 2, 0, window(Access.REMOTE_READ));
    int third = window.bind(b.qp, 3, SendFlag.SIGNALED, other);
    assertNotEquals(first, second);
    assertEquals(3, b.nextSuccess().wrId());
    assertEquals(third, window.rkey());
    writes(third, 0, 256, 10);
    window.bind(b.qp, 4, SendFlag.SIGNALED, MwBindInfo.UNBIND);
    b.nextSuccess();
    refusedAccess(write(window.rkey(), 0, 1));
  }

  @Test
  void theRegionOfABoundWindowCannotBeDestroyed() {
    MemoryWindow window = bound(Access.REMOTE_WRITE);
    MemoryWindow another = bound(Access.REMOTE_READ);
    VerbsException busy = assertThrows(VerbsException.class, region::destroy);
    assertEquals(Errno.EBUSY, busy.errno());
    assertTrue(busy.getMessage().contains(window.label()), busy.getMessage());
    assertTrue(busy.getMessage().contains(another.label()), busy.getMessage());
    writes(window.rkey(), OFFSET, 10, 11);
    invalidate(window.rkey());
    b.nextSuccess();
    busy = assertThrows(VerbsException.class, region::destroy);
    assertTrue(busy.getMessage().endsWith(": " + another.label()), busy.getMessage());
    another.destroy();
    region.destroy();
    assertEquals(1, b.context.device().resources().memoryRegions().size());
  }

  @Test
  void aWindowOfType2ServesOnlyItsQueuePairAndEndsWithIt() {
    QueuePair other = b.pd.createQp(new QpInitAttributes(QpType.RC).sendCq(b.cq).recvCq(b.cq));
    MemoryWindow window = bound(Access.REMOTE_WRITE);
    try (End c = new End(left, QpType.RC, BYTES)) {
      c.connect(right.gid, other.number(), PathMtu.MTU_1024);
      End.connect(other, c.link.gid, b.sgidIndex(), c.qp.number(), PathMtu.MTU_1024);
      c.qp.postSend(
          new SendWorkRequest()
              .opcode(WrOpcode.RDMA_WRITE)
              .rkey(window.rkey())
              .remoteAddress(region.address() + OFFSET)
              .addSge(c.region.address(), 1, c.region.lkey()));
      refusedAccess(c.next());
    }
    writes(window.rkey(), OFFSET, 10, 12);
    b.qp.destroy();
    region.destroy();
  }

  @Test
  void memoryThatIsGoneIsNoMemoryForAWindowEither() {
    MemoryWindow window = b.pd.allocateMw(MwType.TYPE_2);
    MwBindInfo info;
    try (Arena shortLived = Arena.ofShared()) {
      MemoryRegion gone =
          b.pd.registerMemory(shortLived.allocate(64), Access.LOCAL_WRITE, Access.MW_BIND);
      info = new MwBindInfo(gone, gone.address(), 64, Access.REMOTE_WRITE);
      assertEquals(WcStatus.SUCCESS, bind(window, Rkeys.increment(window.rkey()), info).status());
    }
    refusedAccess(remote(WrOpcode.RDMA_WRITE, window.rkey(), info.address(), 1));
  }

  @Test
  void theRemovalOfTheDeviceEndsBoundWindowsAndTheirRegions() {
    MemoryWindow typeTwo = bound(Access.REMOTE_WRITE);
    MemoryWindow typeOne = b.pd.allocateMw(MwType.TYPE_1);
    typeOne.bind(b.qp, 1, SendFlag.SIGNALED, window(Access.REMOTE_READ));
    b.nextSuccess();
    MemoryRegion fast = b.pd.allocateMr(4);
    fast.map(List.of(b.memory));
    b.qp.postSend(new SendWorkRequest().regMr(fast, fast.rkey(), Set.of(Access.MW_BIND)).flags(SendFlag.SIGNALED));
    b.nextSuccess();
    right.remove();
    MwBindInfo info = window(Access.REMOTE_READ);
    VerbsException gone = assertThrows(VerbsException.class, () -> typeOne.bind(b.qp, 2, 0, info));
    assertEquals(Errno.EIO, gone.errno());
    assertEquals(Errno.EIO, assertThrows(VerbsException.class, () -> fast.map(List.of(b.memory))).errno());
    typeTwo.destroy();
    region.destroy();
  }

  @Test
  void aDatagramQueuePairBindsNothing() {
    MemoryWindow window = b.pd.allocateMw(MwType.TYPE_2);
    MwBindInfo info = window(Access.REMOTE_READ);
    try (End u = new End(right, QpType.UD, 4096)) {
      u.connect(a, PathMtu.MTU_1024);
      SendWorkRequest request = new SendWorkRequest().bindMw(window, 1, info);
      assertEquals(Errno.EINVAL, assertThrows(VerbsException.class, () -> u.qp.postSend(request)).errno());
    }
  }

  @Test
  void bindsOfForeignOrUnfitWindowsAreNotPosted() {
    MemoryWindow typeOne = b.pd.allocateMw(MwType.TYPE_1);
    MemoryWindow foreign = a.pd.allocateMw(MwType.TYPE_2);
    MemoryWindow gone = b.pd.allocateMw(MwType.TYPE_2);
    gone.destroy();
    MwBindInfo info = window(Access.REMOTE_READ);
    MwBindInfo elsewhere = new MwBindInfo(a.region, a.region.address(), 64, Access.REMOTE_READ);
    MemoryWindow fine = b.pd.allocateMw(MwType.TYPE_2);
    List<SendWorkRequest> requests =
        List.of(
            new SendWorkRequest().bindMw(typeOne, 1, info),
            new SendWorkRequest().bindMw(foreign, 1, info),
            new SendWorkRequest().bindMw(gone, 1, info),
            new SendWorkRequest().bindMw(null, 1, info),
            new SendWorkRequest().bindMw(fine, 1, null),
            new SendWorkRequest().bindMw(fine, 1, elsewhere),
            new SendWorkRequest().bindMw(fine, 1, info).flags(SendFlag.INLINE));
    for (SendWorkRequest request : requests) {
      VerbsException refused = assertThrows(VerbsException.class, () -> b.qp.postSend(request));
      assertEquals(Errno.EINVAL, refused.errno(), refused.getMessage());
    }
    assertEquals(WcStatus.SUCCESS, bind(fine, Rkeys.increment(fine.rkey()), info).status());
  }
}
