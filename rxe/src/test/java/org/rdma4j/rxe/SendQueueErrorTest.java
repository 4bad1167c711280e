package org.rdma4j.rxe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rdma4j.ib.core.verbs.AddressHandle;
import org.rdma4j.ib.core.verbs.AhAttributes;
import org.rdma4j.ib.core.verbs.AsyncEventType;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.QpAttributes;
import org.rdma4j.ib.core.verbs.QpState;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.ReceiveWorkRequest;
import org.rdma4j.ib.core.verbs.SendFlag;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.ib.core.verbs.WorkCompletion;
import org.rdma4j.roce.address.PathMtu;

/** The send queue of UC and UD fails alone, and goes on by SQE to RTS. */
class SendQueueErrorTest {
  private static final Duration WAIT = Duration.ofSeconds(20);

  private TestLink link;
  private End a;
  private End b;
  private AddressHandle handle;

  @BeforeEach
  void open() {
    link = TestLink.open("rxe0");
  }

  private void connect(QpType type) {
    a = new End(link, type, 4096);
    b = new End(link, type, 4096);
    a.connect(b, PathMtu.MTU_1024);
    b.connect(a, PathMtu.MTU_1024);
    handle = a.pd.createAh(new AhAttributes(1, link.gid, a.sgidIndex()));
  }

  @AfterEach
  void close() {
    if (handle != null) {
      handle.destroy();
    }
    a.close();
    b.close();
    link.close();
  }

  private SendWorkRequest send(long id, int lkey) {
    return new SendWorkRequest()
        .wrId(id)
        .flags(SendFlag.SIGNALED)
        .ah(handle)
        .remoteQpn(b.qp.number())
        .remoteQkey(End.QKEY)
        .addSge(a.region.address(), 8, lkey);
  }

  private void fail() {
    a.qp.postSend(send(1, a.region.lkey() ^ 1).next(send(2, a.region.lkey())));
    assertEquals(WcStatus.LOC_PROT_ERR, a.next().status());
    assertEquals(QpState.SQE, a.qp.state(), "who sees the completion sees the state");
    WorkCompletion flushed = a.next();
    assertEquals(2, flushed.wrId());
    assertEquals(WcStatus.WR_FLUSH_ERR, flushed.status());
  }

  @ParameterizedTest
  @EnumSource(value = QpType.class, names = {"UC", "UD"})
  void goesOnAgainAndAgain(QpType type) {
    connect(type);
    for (int round = 0; round < 3; round++) {
      fail();
      assertEquals(QpState.SQE, a.qp.query().state());
      a.qp.postSend(send(3, a.region.lkey()));
      assertEquals(WcStatus.WR_FLUSH_ERR, a.next().status());
      a.qp.modify(new QpAttributes().state(QpState.RTS).currentState(QpState.SQE));
      assertEquals(QpState.RTS, a.qp.state());
      b.qp.postReceive(
          new ReceiveWorkRequest().wrId(round).addSge(b.region.address(), 100, b.region.lkey()));
      a.qp.postSend(send(4, a.region.lkey()));
      assertEquals(4, a.nextSuccess().wrId());
      assertEquals(round, b.nextSuccess().wrId());
    }
  }

  @Test
  void receivesGoOnMeanwhile() {
    connect(QpType.UC);
    a.qp.postReceive(new ReceiveWorkRequest().wrId(7).addSge(a.region.address(), 100, a.region.lkey()));
    fail();
    b.qp.postSend(
        new SendWorkRequest().flags(SendFlag.SIGNALED).addSge(b.region.address(), 8, b.region.lkey()));
    b.nextSuccess();
    assertEquals(7, a.nextSuccess().wrId());
    assertEquals(QpState.SQE, a.qp.state());
    a.qp.modify(new QpAttributes().state(QpState.ERR));
    assertEquals(QpState.ERR, a.qp.state());
  }

  @Test
  void aWrongCurrentStateIsRefused() {
    connect(QpType.UC);
    fail();
    VerbsException e =
        assertThrows(
            VerbsException.class,
            () -> a.qp.modify(new QpAttributes().state(QpState.RTS).currentState(QpState.RTS)));
    assertEquals(Errno.EINVAL, e.errno());
    assertThrows(VerbsException.class, () -> a.qp.modify(new QpAttributes().state(QpState.SQD)));
    assertEquals(QpState.SQE, a.qp.state());
  }

  @Test
  void aDrainAfterItRaisesItsEvent() {
    connect(QpType.UC);
    fail();
    a.qp.modify(new QpAttributes().state(QpState.RTS));
    a.qp.modify(new QpAttributes().state(QpState.SQD).sqdAsyncNotify(true));
    assertEquals(AsyncEventType.SQ_DRAINED, a.context.getAsyncEvent(WAIT).type());
  }
}
