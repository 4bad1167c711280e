package org.rdma4j.ib.core.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rdma4j.ib.core.fake.FakeQp;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.address.PathMtu;

/** What the core checks of a queue pair before its provider is asked. */
class QueuePairTest {
  private final TestDevice device = new TestDevice();
  private final FakeQp qp = device.qp(device.pd(), QpType.RC);

  @AfterEach
  void close() {
    device.close();
  }

  private void toRts() {
    qp.modify(TestDevice.toInit());
    qp.modify(TestDevice.toRtr());
    qp.modify(TestDevice.toRts());
  }

  private String refused(QpAttributes attributes) {
    QpState before = qp.state();
    VerbsException e = assertThrows(VerbsException.class, () -> qp.modify(attributes));
    assertEquals(Errno.EINVAL, e.errno());
    assertEquals(before, qp.state());
    return e.getMessage();
  }

  @Test
  void walksToRts() {
    toRts();
    assertEquals(QpState.RTS, qp.state());
    assertEquals(1, qp.port());
    qp.modify(new QpAttributes().state(QpState.ERR));
    qp.modify(new QpAttributes().state(QpState.RESET));
    assertEquals(QpState.RESET, qp.state());
  }

  @Test
  void namesWhatIsMissingAndWhatIsForeign() {
    String missing = refused(new QpAttributes().state(QpState.INIT).port(1));
    assertTrue(missing.contains("[ACCESS_FLAGS, PKEY_INDEX]"), missing);
    String foreign = refused(TestDevice.toInit().qkey(1));
    assertTrue(foreign.contains("[QKEY]") && foreign.contains("not allowed"), foreign);
  }

  @Test
  void resetToErrIsNoTransition() {
    assertTrue(refused(new QpAttributes().state(QpState.ERR)).contains("no way"));
  }

  @Test
  void fillsTheSourceGidInAndCutsNumbers() {
    qp.modify(TestDevice.toInit());
    qp.modify(TestDevice.toRtr().rqPsn(0x7f123456));
    assertEquals(0x123456, qp.last().rqPsn());
    assertEquals(Gid.parse("::ffff:192.0.2.2"), qp.last().addressVector().sourceGid().gid());
  }

  @Test
  void refusesValuesOutOfRange() {
    qp.modify(TestDevice.toInit());
    checkRtr(attr -> attr.minRnrTimer(32), "MIN_RNR_TIMER 32");
    checkRtr(attr -> attr.maxDestRdAtomic(129), "max_qp_rd_atom");
    checkRtr(attr -> attr.destQpNumber(1 << 24), "DEST_QPN");
    checkRtr(attr -> attr.pathMtu(PathMtu.MTU_2048), "active MTU 1024");
    checkRtr(attr -> attr.pkeyIndex(1), "P_Key index 1");
    checkRtr(attr -> attr.addressVector(new AhAttributes(2, TestDevice.PEER, 1)), "port 2");
    checkRtr(attr -> attr.addressVector(new AhAttributes(1, TestDevice.PEER, 3)), "sgid_index 3");
    checkRtr(attr -> attr.addressVector(new AhAttributes(1, null, 1)), "needs a destination GID");
    checkRtr(attr -> attr.addressVector(new AhAttributes(1, TestDevice.PEER, 1).withHopLimit(256)), "hop_limit");
    checkRtr(attr -> attr.alternatePath(new AhAttributes(1, TestDevice.PEER, 1)), "alternate path");
    qp.modify(TestDevice.toRtr());
    assertTrue(refused(TestDevice.toRts().timeout(32)).contains("TIMEOUT 32"));
    assertTrue(refused(TestDevice.toRts().retryCount(8)).contains("RETRY_CNT 8"));
    assertTrue(refused(TestDevice.toRts().rnrRetry(-1)).contains("RNR_RETRY -1"));
    assertTrue(refused(TestDevice.toRts().maxRdAtomic(65)).contains("max_qp_init_rd_atom, which is 64"));
  }

  private void checkRtr(UnaryOperator<QpAttributes> change, String expected) {
    String message = refused(change.apply(TestDevice.toRtr()));
    assertTrue(message.contains(expected), message);
  }

  @Test
  void currentStateMustBeTheCurrentState() {
    toRts();
    assertTrue(refused(new QpAttributes().currentState(QpState.SQD)).contains("is in RTS"));
    assertTrue(refused(new QpAttributes().currentState(QpState.INIT)).contains("only"));
    qp.modify(new QpAttributes().currentState(QpState.RTS).minRnrTimer(3));
  }

  @Test
  void whatTheProviderReportsMeanwhileWins() {
    qp.modify(TestDevice.toInit());
    qp.modify(TestDevice.toRtr());
    qp.inModify(() -> qp.report(QpState.ERR));
    qp.modify(TestDevice.toRts());
    assertEquals(QpState.ERR, qp.state());
  }

  @Test
  void aProviderThatRefusesChangesNothing() {
    qp.modify(TestDevice.toInit());
    qp.modifyFailure(new IllegalStateException("broken"));
    VerbsException e = assertThrows(VerbsException.class, () -> qp.modify(TestDevice.toRtr()));
    assertEquals(Errno.EIO, e.errno());
    assertEquals(QpState.INIT, qp.state());
    assertEquals("broken", e.getCause().getMessage());
    // the refused modification let go of its source GID
    device.control.removeGid(1, Gid.parse("::ffff:192.0.2.2"), GidType.ROCE_V2, "eth0", false);
    assertTrue(device.control.addGid(1, Gid.parse("::ffff:192.0.2.3"), GidType.ROCE_V2, "eth0", false));
    assertEquals(1, device.device.gidTable(1).find(Gid.parse("::ffff:192.0.2.3")).index());
  }

  @Test
  void drainEndsInErr() {
    toRts();
    qp.postSend(new SendWorkRequest().wrId(5));
    qp.drain(Duration.ofSeconds(1));
    assertEquals(QpState.ERR, qp.state());
    WorkCompletion[] batch = WorkCompletion.batch(4);
    assertEquals(1, qp.sendCq().poll(batch));
    assertEquals(WcStatus.WR_FLUSH_ERR, batch[0].status());
    assertEquals(5, batch[0].wrId());
  }

  @ParameterizedTest
  @EnumSource(
      value = QpType.class,
      names = {"RC", "UC", "UD"})
  void creationChecksItsParts(QpType type) {
    ProtectionDomain pd = device.pd();
    CompletionQueue cq = device.cq();
    checkCreate(pd, new QpInitAttributes(type).recvCq(cq), "needs a send completion queue");
    checkCreate(pd, new QpInitAttributes(type).sendCq(cq), "needs a receive completion queue");
    QpCapabilities tooLong = new QpCapabilities(1025, 1, 1, 1, 0);
    checkCreate(pd, new QpInitAttributes(type).sendCq(cq).recvCq(cq).capabilities(tooLong), "max_qp_wr of fake0");
    QpCapabilities inline = new QpCapabilities(1, 1, 1, 1, 513);
    checkCreate(pd, new QpInitAttributes(type).sendCq(cq).recvCq(cq).capabilities(inline), "max_inline_data");
    try (Context other = device.device.open("other")) {
      CompletionQueue foreign = other.createCq(1, null, 0);
      checkCreate(pd, new QpInitAttributes(type).sendCq(foreign).recvCq(cq), "belongs to another context");
    }
    QueuePair made = pd.createQp(new QpInitAttributes(type).sendCq(cq).recvCq(cq));
    assertEquals(QpState.RESET, made.state());
    assertNull(made.srq());
  }

  private static void checkCreate(ProtectionDomain pd, QpInitAttributes init, String expected) {
    VerbsException e = assertThrows(VerbsException.class, () -> pd.createQp(init));
    assertEquals(Errno.EINVAL, e.errno());
    assertTrue(e.getMessage().contains(expected), e.getMessage());
  }
}
