package org.rdma4j.rxe;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.rdma4j.ib.core.verbs.Access;
import org.rdma4j.ib.core.verbs.MemoryRegion;
import org.rdma4j.ib.core.verbs.MemoryWindow;
import org.rdma4j.ib.core.verbs.MwBindInfo;
import org.rdma4j.ib.core.verbs.MwType;
import org.rdma4j.ib.core.verbs.ProtectionDomain;
import org.rdma4j.ib.core.verbs.QpState;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.ReceiveWorkRequest;
import org.rdma4j.ib.core.verbs.Rkeys;
import org.rdma4j.ib.core.verbs.SendFlag;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.WcOpcode;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.ib.core.verbs.WorkCompletion;
import org.rdma4j.ib.core.verbs.WrOpcode;
import org.rdma4j.roce.address.PathMtu;
import org.rdma4j.roce.engine.FailedCheck;

/** Binds and invalidations that the device refuses: each ends the queue pair and says which check failed. */
class RefusedLocalOperationTest {
  private static final int BYTES = 4096;

  private final TestLink rxe0 = TestLink.open("rxe0");
  private final TestLink rxe1 = TestLink.open("rxe1");
  private final End a = new End(rxe0, QpType.RC, BYTES);
  private final End b = new End(rxe1, QpType.RC, BYTES);
  private final MemorySegment memory = b.arena.allocate(BYTES, BYTES);
  private final MemoryRegion region = b.pd.registerMemory(memory, Access.LOCAL_WRITE, Access.MW_BIND);
  private final MemoryWindow window = b.pd.allocateMw(MwType.TYPE_2);

  @BeforeEach
  void connect() {
    a.connect(b, PathMtu.MTU_1024);
    b.connect(a, PathMtu.MTU_1024);
  }

  @AfterEach
  void close() {
    a.close();
    b.close();
    rxe0.close();
    rxe1.close();
  }

  private void reconnect() {
    End.reset(a, b, PathMtu.MTU_1024);
  }

  private MwBindInfo all(Access... access) {
    return new MwBindInfo(region, region.address(), BYTES, access);
  }

  private void bind(MwBindInfo info) {
    int key = Rkeys.increment(window.rkey());
    b.qp.postSend(new SendWorkRequest().flags(SendFlag.SIGNALED).bindMw(window, key, info));
  }

  /** The request is refused, the one behind it flushed, the window as before; the queue pair is made good again. */
  private void refusesBind(FailedCheck check, MwBindInfo info) {
    int before = window.rkey();
    bind(info);
    assertFailed(WcStatus.MW_BIND_ERR, check);
    assertEquals(QpState.ERR, b.qp.state());
    assertEquals(before, window.rkey());
    bind(info);
    assertEquals(WcStatus.WR_FLUSH_ERR, b.next().status());
    reconnect();
  }

  private void assertFailed(WcStatus status, FailedCheck check) {
    WorkCompletion done = b.next();
    assertEquals(status, done.status(), done.toString());
    assertEquals(check, FailedCheck.ofCode(done.vendorError()));
  }

  private void refusesInvalidate(int key) {
    b.qp.postSend(new SendWorkRequest().opcode(WrOpcode.LOCAL_INV).invalidateRkey(key));
    assertFailed(WcStatus.LOC_QP_OP_ERR, FailedCheck.LOCAL_INVALIDATE);
    assertEquals(QpState.ERR, b.qp.state());
    reconnect();
  }

  @Test
  void aRegionMustAllowTheBindAndTheRights() {
    MemoryRegion noBind = b.pd.registerMemory(memory, Access.LOCAL_WRITE);
    refusesBind(FailedCheck.BIND_ACCESS, new MwBindInfo(noBind, noBind.address(), 64, Access.REMOTE_READ));
    MemoryRegion readOnly = b.pd.registerMemory(memory, Access.MW_BIND);
    refusesBind(FailedCheck.BIND_ACCESS, new MwBindInfo(readOnly, readOnly.address(), 64, Access.REMOTE_WRITE));
    refusesBind(FailedCheck.BIND_ACCESS, new MwBindInfo(readOnly, readOnly.address(), 64, Access.REMOTE_ATOMIC));
    bind(new MwBindInfo(readOnly, readOnly.address(), 64, Access.REMOTE_READ));
    b.nextSuccess();
  }

  @Test
  void theRangeMustBeInsideTheRegion() {
    long first = region.address();
    refusesBind(FailedCheck.BIND_RANGE, new MwBindInfo(region, first, BYTES + 1, Access.REMOTE_READ));
    refusesBind(FailedCheck.BIND_RANGE, new MwBindInfo(region, first - 1, 2, Access.REMOTE_READ));
    refusesBind(FailedCheck.BIND_RANGE, new MwBindInfo(region, first + BYTES, 1, Access.REMOTE_READ));
    refusesBind(FailedCheck.BIND_RANGE, new MwBindInfo(region, first, Long.MAX_VALUE, Access.REMOTE_READ));
    refusesBind(FailedCheck.BIND_RANGE, new MwBindInfo(region, -1, 2, Access.REMOTE_READ));
    Access[] zeroBased = {Access.REMOTE_READ, Access.ZERO_BASED};
    refusesBind(FailedCheck.BIND_RANGE, new MwBindInfo(region, first + 1, BYTES, zeroBased));
    refusesBind(FailedCheck.BIND_REGION, new MwBindInfo(region, first, 0, Access.REMOTE_READ));
    refusesBind(FailedCheck.BIND_REGION, MwBindInfo.UNBIND);
    bind(new MwBindInfo(region, first + BYTES - 1, 1, zeroBased));
    b.nextSuccess();
  }

  @Test
  void theRegionMustBeThereAndNotZeroBased() {
    MemoryRegion gone = b.pd.registerMemory(memory, Access.LOCAL_WRITE, Access.MW_BIND);
    MwBindInfo late = new MwBindInfo(gone, gone.address(), 64, Access.REMOTE_READ);
    gone.destroy();
    refusesBind(FailedCheck.BIND_REGION, late);
    MemoryRegion zero = b.pd.registerMemory(memory, Access.LOCAL_WRITE, Access.MW_BIND, Access.ZERO_BASED);
    refusesBind(FailedCheck.BIND_REGION, new MwBindInfo(zero, 0, 64, Access.REMOTE_READ));
  }

  @Test
  void allMustBeOfOneProtectionDomain() {
    ProtectionDomain other = b.context.allocatePd();
    MemoryRegion elsewhere = other.registerMemory(memory, Access.LOCAL_WRITE, Access.MW_BIND);
    MwBindInfo info = new MwBindInfo(elsewhere, elsewhere.address(), 64, Access.REMOTE_READ);
    refusesBind(FailedCheck.BIND_PROTECTION_DOMAIN, info);
    MemoryWindow foreign = other.allocateMw(MwType.TYPE_2);
    b.qp.postSend(new SendWorkRequest().bindMw(foreign, 1, info));
    assertFailed(WcStatus.MW_BIND_ERR, FailedCheck.BIND_PROTECTION_DOMAIN);
  }

  @Test
  void aBoundWindowOfType2IsNotBoundAgain() {
    bind(all(Access.REMOTE_READ));
    b.nextSuccess();
    refusesBind(FailedCheck.BIND_STATE, all(Access.REMOTE_READ));
    b.qp.postSend(
        new SendWorkRequest().opcode(WrOpcode.LOCAL_INV).flags(SendFlag.SIGNALED).invalidateRkey(window.rkey()));
    assertEquals(WcOpcode.LOCAL_INV, b.nextSuccess().opcode());
    bind(all(Access.REMOTE_READ));
    b.nextSuccess();
  }

  @Test
  void onlyABoundWindowOfTheOwnQueuePairIsInvalidated() {
    bind(all(Access.REMOTE_READ));
    b.nextSuccess();
    refusesInvalidate(Rkeys.increment(window.rkey()));
    refusesInvalidate(region.lkey());
    refusesInvalidate(b.region.rkey());
    refusesInvalidate(b.pd.allocateMw(MwType.TYPE_1).rkey());
    refusesInvalidate(b.context.allocatePd().allocateMw(MwType.TYPE_2).rkey());
    refusesInvalidate(0);
    refusesInvalidate(-1);
    try (End c = new End(rxe1, QpType.RC, BYTES)) {
      c.connect(a, PathMtu.MTU_1024);
      c.qp.postSend(new SendWorkRequest().opcode(WrOpcode.LOCAL_INV).invalidateRkey(window.rkey()));
      assertEquals(WcStatus.LOC_QP_OP_ERR, c.next().status());
    }
  }

  @Test
  void aPeerInvalidatesNothingElse() {
    for (int key : new int[] {b.region.rkey(), region.lkey(), b.pd.allocateMw(MwType.TYPE_1).rkey(), 0}) {
      b.qp.postReceive(new ReceiveWorkRequest().wrId(7).addSge(b.region.address(), 64, b.region.lkey()));
      a.qp.postSend(new SendWorkRequest().opcode(WrOpcode.SEND_WITH_INV).invalidateRkey(key));
      assertFailed(WcStatus.REM_INV_REQ_ERR, FailedCheck.INVALIDATE);
      assertEquals(WcStatus.REM_ACCESS_ERR, a.next().status());
      assertEquals(QpState.ERR, b.qp.state());
      reconnect();
    }
  }
}
