package org.rdma4j.mlx5.ib;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.EnumSet;
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
import org.rdma4j.ib.core.verbs.QpState;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.ReceiveWorkRequest;
import org.rdma4j.ib.core.verbs.Rkeys;
import org.rdma4j.ib.core.verbs.SendFlag;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.ib.core.verbs.WcOpcode;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.ib.core.verbs.WorkCompletion;
import org.rdma4j.ib.core.verbs.WorkRequestBuilder;
import org.rdma4j.ib.core.verbs.WrOpcode;
import org.rdma4j.roce.address.PathMtu;
import org.rdma4j.roce.engine.FailedCheck;

/** Fast registration between two cards: {@code b} maps, registers and invalidates, {@code a} uses the keys. */
class FastRegistrationTest {
  private static final int PAGE = 4096;
  private static final int BYTES = 16 * PAGE;
  private static final Set<Access> ALL =
      EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_WRITE, Access.REMOTE_READ, Access.REMOTE_ATOMIC);

  private final TestHost left = new TestHost();
  private final TestHost right = new TestHost();
  private final End a = new End(left, QpType.RC, BYTES);
  private final End b = new End(right, QpType.RC, BYTES);
  private final MemoryRegion fast = b.pd.allocateMr(8);

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

  private MemorySegment bytes(long from, long count) {
    return b.memory.asSlice(from, count);
  }

  private void post(SendWorkRequest request) {
    b.qp.postSend(request.flags(SendFlag.SIGNALED));
  }

  private void register(MemoryRegion region, Set<Access> rights) {
    region.updateKey(Rkeys.increment(region.rkey()));
    post(new SendWorkRequest().regMr(region, region.rkey(), rights));
    assertEquals(WcOpcode.REG_MR, b.nextSuccess().opcode());
  }

  private void invalidate(int key) {
    post(new SendWorkRequest().opcode(WrOpcode.LOCAL_INV).invalidateRkey(key));
  }

  private WorkCompletion remote(WrOpcode opcode, int rkey, long address, int length) {
    a.qp.postSend(
        new SendWorkRequest()
            .opcode(opcode)
            .flags(SendFlag.SIGNALED)
            .rkey(rkey)
            .remoteAddress(address)
            .compareAdd(5)
            .swap(1000)
            .addSge(a.region.address(), length, a.region.lkey()));
    return a.next();
  }

  private void refusesRegistration(FailedCheck check, SendWorkRequest request) {
    b.qp.postSend(request);
    WorkCompletion done = b.next();
    assertEquals(WcStatus.LOC_QP_OP_ERR, done.status(), done.toString());
    assertEquals(check, FailedCheck.ofCode(done.vendorError()));
    assertEquals(QpState.ERR, b.qp.state());
    End.reset(a, b, PathMtu.MTU_1024);
  }

  private void refusesPost(SendWorkRequest request) {
    VerbsException e = assertThrows(VerbsException.class, () -> b.qp.postSend(request));
    assertEquals(Errno.EINVAL, e.errno(), e.getMessage());
  }

  @Test
  void aPeerWritesAndReadsScatteredPagesAsOne() {
    assertEquals(3, fast.map(List.of(bytes(5 * PAGE + 100, PAGE - 100), bytes(PAGE, 2 * PAGE), bytes(9 * PAGE, 50))));
    register(fast, ALL);
    int length = (int) fast.length();
    a.fill(0, length, 1);
    assertEquals(WcStatus.SUCCESS, remote(WrOpcode.RDMA_WRITE, fast.rkey(), fast.address(), length).status());
    long at = 0;
    for (long[] piece : new long[][] {{5 * PAGE + 100, PAGE - 100}, {PAGE, 2 * PAGE}, {9 * PAGE, 50}}) {
      assertEquals(-1, a.memory.asSlice(at, piece[1]).mismatch(bytes(piece[0], piece[1])));
      at += piece[1];
    }
    a.fill(0, length, 2);
    assertEquals(WcStatus.SUCCESS, remote(WrOpcode.RDMA_READ, fast.rkey(), fast.address(), length).status());
    a.verify(0, length, 1);
    long past = fast.address() + length - 9;
    assertEquals(WcStatus.REM_ACCESS_ERR, remote(WrOpcode.RDMA_WRITE, fast.rkey(), past, 10).status());
  }

  @Test
  void aBatchRegistersSendsAndInvalidates() {
    fast.map(List.of(bytes(2 * PAGE, PAGE), bytes(6 * PAGE, PAGE)));
    b.fill(2 * PAGE, PAGE, 3);
    a.qp.postReceive(new ReceiveWorkRequest().addSge(a.region.address(), 2 * PAGE, a.region.lkey()));
    WorkRequestBuilder builder = b.qp.workRequests();
    builder.start();
    builder.flags(SendFlag.SIGNALED);
    builder.regMr(fast, fast.rkey(), Set.of());
    builder.send();
    builder.setSge(fast.lkey(), fast.address(), 2 * PAGE);
    builder.localInv(fast.rkey());
    builder.complete();
    assertEquals(2 * PAGE, a.nextSuccess().byteLength());
    a.verify(0, PAGE, 3);
    assertEquals(WcOpcode.REG_MR, b.nextSuccess().opcode());
    assertEquals(WcOpcode.SEND, b.nextSuccess().opcode());
    assertEquals(WcOpcode.LOCAL_INV, b.nextSuccess().opcode());
    post(new SendWorkRequest().addSge(fast.address(), 1, fast.lkey()));
    WorkCompletion refused = b.next();
    assertEquals(WcStatus.LOC_PROT_ERR, refused.status());
    assertEquals(FailedCheck.LOCAL_KEY.code(), refused.vendorError());
  }

  @Test
  void aPeerInvalidatesAndTheRegionIsRegisteredAgainUnderAnotherKey() {
    fast.map(List.of(bytes(0, PAGE)));
    register(fast, ALL);
    int first = fast.rkey();
    b.qp.postReceive(new ReceiveWorkRequest());
    a.qp.postSend(new SendWorkRequest().opcode(WrOpcode.SEND_WITH_INV).invalidateRkey(first));
    assertEquals(first, b.nextSuccess().invalidatedRkey());
    fast.map(List.of(bytes(8 * PAGE, 100)));
    register(fast, ALL);
    a.fill(0, 100, 4);
    assertEquals(WcStatus.SUCCESS, remote(WrOpcode.RDMA_WRITE, fast.rkey(), fast.address(), 100).status());
    b.verify(8 * PAGE, 100, 4);
    assertEquals(WcStatus.REM_ACCESS_ERR, remote(WrOpcode.RDMA_WRITE, first, fast.address(), 100).status());
  }

  @Test
  void whatIsRegisteredStaysWhileTheNextIsMapped() {
    fast.map(List.of(bytes(0, PAGE)));
    register(fast, ALL);
    long address = fast.address();
    fast.map(List.of(bytes(8 * PAGE, PAGE)));
    a.fill(0, PAGE, 5);
    assertEquals(WcStatus.SUCCESS, remote(WrOpcode.RDMA_WRITE, fast.rkey(), address, PAGE).status());
    b.verify(0, PAGE, 5);
    assertEquals(WcStatus.REM_ACCESS_ERR, remote(WrOpcode.RDMA_WRITE, fast.rkey(), fast.address(), 1).status());
  }

  @Test
  void aRegionIsRegisteredOnlyWhileFreeAndWithMemory() {
    refusesPost(new SendWorkRequest().regMr(fast, fast.rkey(), ALL));
    fast.map(List.of(bytes(0, PAGE).asReadOnly()));
    refusesPost(new SendWorkRequest().regMr(fast, fast.rkey(), ALL));
    register(fast, EnumSet.of(Access.REMOTE_READ));
    refusesRegistration(FailedCheck.REGISTER_STATE, new SendWorkRequest().regMr(fast, fast.rkey(), Set.of()));
    assertEquals(WcStatus.SUCCESS, remote(WrOpcode.RDMA_READ, fast.rkey(), fast.address(), PAGE).status());
    invalidate(fast.rkey());
    b.nextSuccess();
    register(fast, Set.of());
  }

  @Test
  void onlyRegionsOfTheDomainAreRegisteredUnderTheirOwnKeys() {
    fast.map(List.of(bytes(0, PAGE)));
    int foreign = fast.rkey() + 0x100;
    refusesPost(new SendWorkRequest().regMr(fast, foreign, ALL));
    MemoryRegion elsewhere = b.context.allocatePd().allocateMr(1);
    elsewhere.map(List.of(bytes(0, PAGE)));
    refusesRegistration(
        FailedCheck.REGISTER_REGION, new SendWorkRequest().regMr(elsewhere, elsewhere.rkey(), ALL));
    MemoryRegion gone = b.pd.allocateMr(1);
    gone.map(List.of(bytes(0, PAGE)));
    gone.destroy();
    refusesPost(new SendWorkRequest().regMr(gone, gone.rkey(), ALL));
    register(fast, ALL);
  }

  @Test
  void registrationsThatMakeNoSenseAreNotPosted() {
    fast.map(List.of(bytes(0, PAGE)));
    refusesPost(new SendWorkRequest().regMr(b.region, b.region.rkey(), ALL));
    refusesPost(new SendWorkRequest().regMr(null, 1, ALL));
    refusesPost(new SendWorkRequest().regMr(a.pd.allocateMr(1), 1, ALL));
    refusesPost(new SendWorkRequest().regMr(fast, fast.rkey(), EnumSet.of(Access.REMOTE_WRITE)));
    refusesPost(new SendWorkRequest().regMr(fast, fast.rkey(), EnumSet.of(Access.ZERO_BASED)));
    refusesPost(new SendWorkRequest().regMr(fast, fast.rkey(), null));
    register(fast, ALL);
  }

  @Test
  void atomicsReachEveryPiece() {
    assertEquals(2, fast.map(List.of(bytes(16, 20), bytes(36, 60))));
    register(fast, ALL);
    for (int at : new int[] {0, 8, 24}) {
      b.memory.set(ValueLayout.JAVA_LONG, 16 + at, 40);
      assertEquals(
          WcStatus.SUCCESS,
          remote(WrOpcode.ATOMIC_FETCH_AND_ADD, fast.rkey(), fast.address() + at, 8).status());
      assertEquals(40, a.memory.get(ValueLayout.JAVA_LONG, 0));
      assertEquals(45, b.memory.get(ValueLayout.JAVA_LONG, 16 + at));
      remote(WrOpcode.ATOMIC_CMP_AND_SWP, fast.rkey(), fast.address() + at, 8);
      assertEquals(45, b.memory.get(ValueLayout.JAVA_LONG, 16 + at), "5 is not what is there");
      b.memory.set(ValueLayout.JAVA_LONG, 16 + at, 5);
      remote(WrOpcode.ATOMIC_CMP_AND_SWP, fast.rkey(), fast.address() + at, 8);
      assertEquals(1000, b.memory.get(ValueLayout.JAVA_LONG, 16 + at));
    }
  }

  /** More pages than an entry of the send queue has room for: the card reads the list itself. */
  @Test
  void longListsAndLargePagesAreRegistered() {
    MemoryRegion wide = b.pd.allocateMr(16);
    assertEquals(1, wide.map(List.of(bytes(100, BYTES - 200))));
    register(wide, ALL);
    a.fill(0, BYTES - 200, 8);
    assertEquals(WcStatus.SUCCESS, remote(WrOpcode.RDMA_WRITE, wide.rkey(), wide.address(), BYTES - 200).status());
    b.verify(100, BYTES - 200, 8);
    invalidate(wide.rkey());
    b.nextSuccess();
    assertEquals(1, wide.map(List.of(b.memory), 5000, 2 * PAGE));
    register(wide, ALL);
    a.fill(0, BYTES - 5000, 9);
    assertEquals(WcStatus.SUCCESS, remote(WrOpcode.RDMA_WRITE, wide.rkey(), wide.address(), BYTES - 5000).status());
    b.verify(5000, BYTES - 5000, 9);
    assertEquals(
        WcStatus.REM_ACCESS_ERR, remote(WrOpcode.RDMA_WRITE, wide.rkey(), wide.address() - 1, 1).status());
  }

  /** Whoever maps again and again keeps no more memory from the system than is in use. */
  @Test
  void registrationsThatAreOverHoldNothing() {
    for (int i = 0; i < 300; i++) {
      fast.map(List.of(bytes((long) PAGE * (i % 8), PAGE)));
      fast.updateKey(i);
      b.qp.postSend(new SendWorkRequest().regMr(fast, fast.rkey(), ALL));
      if (i % 3 == 0) {
        fast.map(List.of(bytes(PAGE, PAGE)));
      }
      a.fill(0, 64, i);
      invalidate(fast.rkey());
      b.nextSuccess();
    }
    assertTrue(fastRegion().mappings() <= 3, "mappings that are kept");
  }

  private IbFastRegion fastRegion() {
    return (IbFastRegion) fast;
  }

  @Test
  void aFailedRegistrationIsMappedNoLonger() {
    fast.map(List.of(bytes(0, PAGE)));
    register(fast, ALL);
    for (int i = 0; i < 3; i++) {
      fast.map(List.of(bytes(PAGE, PAGE)));
      refusesRegistration(FailedCheck.REGISTER_STATE, new SendWorkRequest().regMr(fast, fast.rkey(), ALL));
    }
    fast.map(List.of(bytes(PAGE, PAGE)));
    assertEquals(2, fastRegion().mappings(), "what is registered and what is mapped");
    WorkRequestBuilder builder = b.qp.workRequests();
    builder.start();
    builder.regMr(fast, fast.rkey(), ALL);
    builder.regMr(fast, fast.rkey(), ALL);
    builder.setSge(b.region.lkey(), b.region.address(), 1);
    assertThrows(VerbsException.class, builder::complete);
    fast.map(List.of(bytes(PAGE, PAGE)));
    assertEquals(2, fastRegion().mappings(), "a batch that was never posted holds nothing");
  }

  @Test
  void aPieceThatIsGoneIsNoMemory() {
    MemorySegment lasting = bytes(0, PAGE);
    try (Arena shortLived = Arena.ofShared()) {
      fast.map(List.of(lasting, shortLived.allocate(PAGE, PAGE)));
      register(fast, ALL);
    }
    assertEquals(WcStatus.SUCCESS, remote(WrOpcode.RDMA_WRITE, fast.rkey(), fast.address(), PAGE).status());
    WorkCompletion gone = remote(WrOpcode.RDMA_WRITE, fast.rkey(), fast.address() + PAGE - 1, 2);
    assertEquals(WcStatus.REM_ACCESS_ERR, gone.status());
  }

  @Test
  void aRegionWithWindowsIsNotInvalidated() {
    fast.map(List.of(bytes(0, PAGE), bytes(4 * PAGE, PAGE)));
    register(fast, EnumSet.of(Access.LOCAL_WRITE, Access.MW_BIND));
    MemoryWindow window = b.pd.allocateMw(MwType.TYPE_2);
    int key = Rkeys.increment(window.rkey());
    MwBindInfo info = new MwBindInfo(fast, fast.address() + PAGE, PAGE, Access.REMOTE_WRITE);
    post(new SendWorkRequest().bindMw(window, key, info));
    b.nextSuccess();
    a.fill(0, PAGE, 6);
    assertEquals(WcStatus.SUCCESS, remote(WrOpcode.RDMA_WRITE, key, fast.address() + PAGE, PAGE).status());
    b.verify(4 * PAGE, PAGE, 6);
    refusesRegistration(
        FailedCheck.LOCAL_INVALIDATE,
        new SendWorkRequest().opcode(WrOpcode.LOCAL_INV).invalidateRkey(fast.lkey()));
    invalidate(key);
    b.nextSuccess();
    invalidate(fast.lkey());
    b.nextSuccess();
    fast.destroy();
  }

  @Test
  void inlineDataComesFromRegisteredPieces() {
    fast.map(List.of(bytes(PAGE, PAGE), bytes(4 * PAGE, PAGE)));
    register(fast, Set.of());
    b.fill(2 * PAGE - 20, 20, 7);
    a.qp.postReceive(new ReceiveWorkRequest().addSge(a.region.address(), 64, a.region.lkey()));
    b.qp.postSend(
        new SendWorkRequest()
            .flags(SendFlag.INLINE)
            .addSge(fast.address() + PAGE - 20, 40, fast.lkey()));
    assertEquals(40, a.nextSuccess().byteLength());
    a.verify(0, 20, 7);
    SendWorkRequest past =
        new SendWorkRequest().flags(SendFlag.INLINE).addSge(fast.address() + 2 * PAGE - 1, 2, fast.lkey());
    assertEquals(Errno.EFAULT, assertThrows(VerbsException.class, () -> b.qp.postSend(past)).errno());
  }
}
